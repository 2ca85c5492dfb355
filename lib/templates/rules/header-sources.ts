import { enumOf, isPart, type Part } from './draft.ts';

export interface SourcedHeader {
  readonly header: Part;
  readonly path: string;
}

/** The headers that name a `header_source`, those of carousel cards among them, with their paths. */
export function headersWithSource(components: readonly unknown[], path: string): SourcedHeader[] {
  return components.flatMap((component, index) => {
    if (!isPart(component)) return [];
    const place = `${path}[${index}]`;
    const cards: unknown[] = Array.isArray(component['cards']) ? component['cards'] : [];
    const inCards = cards.flatMap((card, cardIndex) =>
      isPart(card) && Array.isArray(card['components'])
        ? headersWithSource(card['components'], `${place}.cards[${cardIndex}].components`)
        : [],
    );
    const own = enumOf(component['type']) === 'HEADER' && component['header_source'] !== undefined;
    return own ? [{ header: component, path: place }] : inCards;
  });
}
