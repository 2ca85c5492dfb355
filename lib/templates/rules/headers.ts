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

/**
 * Returns the URL of a header's media and the key that has it: `header_source`, or a handle in either spelling, where
 * the platform shows a URL (platform reference, 2.3). Undefined for a real handle.
 */
export function urlOfMedia({ header_source, header_handle, example }: Part): { url: string; key: string } | undefined {
  if (typeof header_source === 'string') return { url: header_source, key: 'header_source' };
  if (isWebAddress(header_handle)) return { url: header_handle, key: 'header_handle' };
  const handles = isPart(example) ? example['header_handle'] : undefined;
  const shown: unknown = Array.isArray(handles) ? handles[0] : undefined;
  return isWebAddress(shown) ? { url: shown, key: 'example.header_handle' } : undefined;
}

function isWebAddress(handle: unknown): handle is string {
  return typeof handle === 'string' && /^https?:\/\//i.test(handle);
}
