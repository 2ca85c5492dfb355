import type { PhoneView } from '../../console/phone-view.ts';
import { type MediaFacts, mediaFacts } from '../media/media-facts.ts';
import type { World } from '../state.ts';

/** Returns name and price by retailer id, without products that no linked catalog has. */
export function productsNamed(world: World, numberId: string, view: PhoneView) {
  const wabaId = world.numbers.get(numberId)?.wabaId ?? '';
  const products = (world.wabas.get(wabaId)?.catalogs ?? []).flatMap((catalog) => catalog.products);
  const named = [view, ...view.cards].flatMap(({ header, buttons }) => [
    ...(header?.kind === 'product' ? [header.product] : []),
    ...buttons.flatMap(({ value, sections = [] }) => [value, ...sections.flatMap((section) => section.products)]),
  ]);
  const known = [...new Set(named)].flatMap((id) => {
    const fields = products.find((product) => product.fields['retailer_id'] === id)?.fields;
    return fields === undefined
      ? []
      : [[id, { name: wordsOf(fields['name']), price: wordsOf(fields['price']) }] as const];
  });
  return Object.fromEntries(known);
}

export function mediaNamed(world: World, view: PhoneView): Readonly<Record<string, MediaFacts>> {
  const known = [view, ...view.cards].flatMap(({ header }) => {
    const medium = header?.kind === 'media' ? world.media.get(header.mediaId, world.clock.nowMs()) : undefined;
    return medium === undefined ? [] : [[medium.id, mediaFacts(medium)] as const];
  });
  return Object.fromEntries(known);
}

function wordsOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
