import type { GivenCardComponent, GivenComponent } from '../definition.ts';
import { checkButtons } from './button-rules.ts';
import { checkHeader, type HeaderRules } from './header-rules.ts';
import { checkKeys, invalid } from './refusals.ts';
import { checkBody } from './text-rules.ts';

type Card = NonNullable<GivenComponent['cards']>[number];

const longestCardBody = 160;
const mostMediaCards = 10;
const productCards = 2;

/** Checks that the cards of a CAROUSEL are all built alike, with media or products (3.7). */
export function checkCarousel(rules: Omit<HeaderRules, 'where' | 'formats'>, carousel: GivenComponent): void {
  checkKeys('carousel', carousel, ['type', 'cards']);
  const cards = carousel.cards ?? [];
  const [first] = cards;
  const products = partOf(first, 'HEADER')?.format === 'PRODUCT';
  if (products ? cards.length !== productCards : cards.length < 2 || cards.length > mostMediaCards) {
    throw invalid(`carousel: ${products ? `exactly ${productCards}` : `2 to ${mostMediaCards}`} cards are required`);
  }
  cards.forEach((card, index) => {
    if (buildOf(card) !== buildOf(first)) throw invalid(`carousel: card ${index} is not built like the first one`);
    checkCard({ ...rules, where: `card ${index}`, products }, card);
  });
}

function checkCard(rules: Omit<HeaderRules, 'formats'> & { readonly products: boolean }, card: Card): void {
  const { where, products } = rules;
  const types = card.components.map((component) => component.type);
  if (new Set(types).size < types.length) throw invalid(`${where}: at most one component of each type`);
  const [header, body, buttons] = (['HEADER', 'BODY', 'BUTTONS'] as const).map((type) => partOf(card, type));
  if (header === undefined || buttons === undefined || types.includes('FOOTER')) {
    throw invalid(`${where}: a card has a HEADER, BUTTONS and perhaps a BODY`);
  }
  checkHeader({ ...rules, where: `${where} header`, formats: products ? ['PRODUCT'] : ['IMAGE', 'VIDEO'] }, header);
  if (body !== undefined) {
    checkBody({ where: `${where} body`, named: rules.named, mostCharacters: longestCardBody }, body);
  }
  checkKeys(`${where} buttons`, buttons, ['type', 'buttons']);
  checkButtons(`${where} buttons`, buttons.buttons);
  const kinds = (buttons.buttons ?? []).map((button) => button.type as string);
  const allowed = products ? ['SPM', 'URL'] : ['QUICK_REPLY', 'URL', 'PHONE_NUMBER'];
  if (kinds.length > (products ? 1 : 2) || kinds.some((kind) => !allowed.includes(kind))) {
    throw invalid(`${where}: ${products ? 'one button' : '1 or 2 buttons'} of ${allowed.join(', ')}`);
  }
}

function partOf(card: Card | undefined, type: GivenCardComponent['type']): GivenCardComponent | undefined {
  return card?.components.find((component) => component.type === type);
}

/** Serializes a card for comparison: components, header format and buttons. */
function buildOf(card: Card | undefined): string {
  const types = (card?.components ?? []).map((component) => component.type).sort();
  const buttons = (partOf(card, 'BUTTONS')?.buttons ?? []).map((button) => button.type);
  return JSON.stringify([types, partOf(card, 'HEADER')?.format, buttons]);
}
