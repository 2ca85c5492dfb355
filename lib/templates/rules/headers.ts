import { enumOf, isPart, type Part } from '../../http/json-part.ts';

export interface PlacedHeader {
  readonly header: Part;
  readonly path: string;
  /** The index is that of the header's card in a carousel; the header of the message has none. */
  readonly card?: number;
}

/** Returns all headers of components, with those of carousel cards, and their paths. */
export function headersOf(components: readonly unknown[], path: string): PlacedHeader[] {
  const headers: PlacedHeader[] = [];
  withHeaders(components, path, (placed) => {
    headers.push(placed);
    return placed.header;
  });
  return headers;
}

/** Returns the components with every header replaced, also in carousel cards. */
export function withHeaders(
  components: readonly unknown[],
  path: string,
  replace: (placed: PlacedHeader) => Part,
): unknown[] {
  return components.map((component, index) => {
    if (!isPart(component)) return component;
    const place = `${path}[${index}]`;
    if (enumOf(component['type']) === 'HEADER') return replace({ header: component, path: place });
    if (!Array.isArray(component['cards'])) return component;
    const cards = component['cards'].map((given: unknown, card) => {
      if (!isPart(given) || !Array.isArray(given['components'])) return given;
      const inside = withHeaders(given['components'], `${place}.cards[${card}].components`, (placed) =>
        replace({ ...placed, card }),
      );
      return { ...given, components: inside };
    });
    return { ...component, cards };
  });
}
