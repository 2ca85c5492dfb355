import { jsonExcerpt } from '../../http/json-excerpt.ts';
import { enumOf, isPart, type Part } from '../../http/json-part.ts';
import { clip } from '../../http/parse.ts';
import { checkButtons } from './buttons.ts';
import { at, type CheckedValue, fault, onlyKeys } from './draft.ts';
import { headerFormatsOf } from './header-formats.ts';
import { checkBody, checkHeader } from './texts.ts';

const cardBodyMaxLength = 160;
const maxCards = 10;
const cardTypes = ['HEADER', 'BODY', 'BUTTONS'] as const;

/** Checks a carousel (platform reference, 3.7): media cards or product cards, all of one shape. */
export function checkCarousel(carousel: Part, judged: CheckedValue): void {
  onlyKeys(carousel, ['type', 'cards'], judged);
  const place = at(judged, 'cards');
  const { cards } = carousel;
  if (!Array.isArray(cards) || cards.length < 2 || cards.length > maxCards) {
    fault(place, `2 to ${maxCards} cards, received ${Array.isArray(cards) ? cards.length : jsonExcerpt(cards)}`);
    return;
  }
  const shapes = cards.map((card, index) => checkCard(card, at(place, index)));
  const different = shapes.findIndex((shape) => shape !== shapes[0]);
  if (different > 0)
    fault(at(place, different), `every card must have the shape of the first: ${clip(shapes[0] ?? '')}`);
  if (shapes[0]?.startsWith('PRODUCT') && cards.length !== 2) {
    fault(place, `product cards are defined as 2 cards, received ${cards.length}`);
  }
}

/** Returns a card's shape: format of the header, body, kinds of buttons. */
function checkCard(card: unknown, judged: CheckedValue): string {
  const place = at(judged, 'components');
  const components = isPart(card) ? card['components'] : undefined;
  if (!isPart(card) || !Array.isArray(components)) {
    fault(place, `a list of components, received ${jsonExcerpt(components)}`);
    return '';
  }
  onlyKeys(card, ['components'], judged);
  const found = new Map<string, { readonly component: Part; readonly place: CheckedValue }>();
  components.forEach((component: unknown, index) => {
    const type = isPart(component) ? enumOf(component['type']) : undefined;
    if (!isPart(component) || type === undefined || !cardTypes.some((known) => known === type) || found.has(type)) {
      fault(at(place, index), `one HEADER, at most one BODY and one BUTTONS in a card, received ${jsonExcerpt(type)}`);
    } else found.set(type, { component, place: at(place, index) });
  });
  return checkCardParts(found, place);
}

function checkCardParts(
  found: ReadonlyMap<string, { readonly component: Part; readonly place: CheckedValue }>,
  judged: CheckedValue,
): string {
  const [header, body, buttons] = cardTypes.map((type) => found.get(type));
  if (header === undefined) fault(judged, 'a card needs a HEADER');
  else checkHeader(header.component, headerFormatsOf('card'), header.place, { fileAttached: false });
  const format = enumOf(header?.component['format']) ?? '';
  const product = format === 'PRODUCT';
  if (body !== undefined) checkBody(body.component, cardBodyMaxLength, body.place);
  if (buttons === undefined) {
    fault(judged, 'a card needs BUTTONS');
    return format;
  }
  onlyKeys(buttons.component, ['type', 'buttons'], buttons.place);
  const allowed = product ? ['SPM', 'URL'] : ['QUICK_REPLY', 'URL', 'PHONE_NUMBER'];
  const kinds = checkButtons(buttons.component['buttons'], allowed, at(buttons.place, 'buttons'));
  const most = product ? 1 : 2;
  if (kinds.length > most) fault(at(buttons.place, 'buttons'), `at most ${most} on a card, received ${kinds.length}`);
  return [format, ...(body === undefined ? [] : ['BODY']), ...kinds].join(' ');
}
