import { messagingError } from '../errors.ts';
import type { TemplateComponent } from '../templates/template.ts';
import { checkButtons } from './button-checks.ts';
import { checkHeader, type HeaderPlace } from './header-checks.ts';
import type { SentPart } from './message-body.ts';
import { singleComponent } from './single-component.ts';
import { checkTexts } from './text-checks.ts';

type DefinedCard = NonNullable<TemplateComponent['cards']>[number];
type SentCard = NonNullable<SentPart['cards']>[number];

const longestCardBody = 160;
const mostProductCards = 10;

/**
 * Checks media cards against the template's, and product cards: 2 to 10, built like the first (platform reference,
 * 3.7). Their catalog needs no check: a WABA has only one.
 */
export function checkCarousel(
  place: HeaderPlace,
  defined: readonly DefinedCard[] | undefined,
  sent: readonly SentCard[],
): void {
  if (defined === undefined) {
    if (sent.length > 0) throw cardMismatch(sent.length, '0');
    return;
  }
  const products = headerOf(defined[0])?.format === 'PRODUCT';
  if (products && (sent.length < 2 || sent.length > mostProductCards)) {
    throw cardMismatch(sent.length, `2 to ${mostProductCards}`);
  }
  if (!products && sent.length !== defined.length) throw cardMismatch(sent.length, String(defined.length));
  const cards = [...sent].sort((a, b) => a.card_index - b.card_index);
  cards.forEach((card, index) => {
    if (card.card_index !== index) throw messagingError(131009, 'carousel: card_index must count up from 0');
    checkCard({ ...place, where: `carousel card ${index} ` }, products ? defined[0] : defined[index], card);
  });
}

function checkCard(place: HeaderPlace, defined: DefinedCard | undefined, sent: SentCard): void {
  const component = (type: string) => defined?.components.find((one) => one.type === type);
  const parts = sent.components;
  checkHeader(place, component('HEADER'), singleComponent(parts, 'header')?.parameters ?? []);
  checkTexts(
    { where: `${place.where}body`, named: place.named, mostCharacters: longestCardBody },
    component('BODY')?.text,
    singleComponent(parts, 'body')?.parameters ?? [],
  );
  checkButtons(
    { where: place.where, code: false },
    component('BUTTONS')?.buttons ?? [],
    parts.filter((part) => part.type === 'button'),
  );
}

function headerOf(card: DefinedCard | undefined) {
  return card?.components.find((component) => component.type === 'HEADER');
}

function cardMismatch(received: number, expected: string) {
  return messagingError(
    132000,
    `carousel: number of cards (${received}) does not match the expected number of cards (${expected})`,
  );
}
