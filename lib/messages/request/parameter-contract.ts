import { Refusal } from '../../http/refusal.ts';
import { redirectCodeOf } from '../../redirects/rewriting.ts';
import type { PlatformTemplate, TemplateButton, TemplateComponent } from '../../templates/model/template.ts';
import type { HeaderFormat } from '../../templates/rules/header-formats.ts';
import type { HeaderInput } from '../dispatch/head.ts';
import { notSendable, refuseDirectMessages, refuseUnlistedKinds } from './sendable-kinds.ts';

/** A text says how often each of its variables appears, and its length without them, in characters. */
export interface TextNeed {
  /** Element i counts `{{i+1}}`; the list's length is the number of required values. */
  readonly appearances: readonly number[];
  readonly fixedLength: number;
  readonly maxLength: number;
}

/** An `input` is the `component.header` of a send. */
export type HeaderNeed =
  | { readonly kind: 'none' | 'product' }
  | { readonly kind: 'text'; readonly text: TextNeed }
  | { readonly kind: 'input'; readonly type: HeaderInput['type'] };

/** A button that takes a value has its index among all buttons of the template or card. */
export interface DynamicButton {
  readonly index: number;
  readonly kind: 'url' | 'copy_code';
  /** The length counts the characters of a URL without its variable. */
  readonly fixedLength: number;
  readonly maxLength: number;
}

/** The service fills a URL button that became a redirect (D19), alike for all recipients. */
export interface RedirectButton {
  readonly index: number;
  readonly code: string;
}

export interface CardNeed {
  /** The medium is the template's own example: the interface has no input for a card's media. */
  readonly media: { readonly kind: 'image' | 'video'; readonly link: string };
  readonly body: TextNeed;
  readonly buttons: readonly DynamicButton[];
  readonly redirects?: readonly RedirectButton[];
  readonly quickReplies?: readonly number[];
}

/**
 * A send of one template must carry this for each recipient (contract, params of a recipient; platform reference, 3 and
 * 4.2).
 */
export interface ParameterContract {
  readonly header: HeaderNeed;
  readonly body: TextNeed;
  readonly buttons: readonly DynamicButton[];
  readonly redirects?: readonly RedirectButton[];
  /** The service gives each a payload that names the message (D55). */
  readonly quickReplies?: readonly number[];
  /** The message names each flow button, though none takes a value. */
  readonly flows?: readonly number[];
  /** The one-time-password button repeats the body's value. */
  readonly codeButton?: number;
  readonly productList?: number;
  readonly cards: readonly CardNeed[];
  /** The word says why the template reaches phone numbers only (131062, platform reference 4.5). */
  readonly phoneNumbersOnly?: 'code' | 'bid';
}

const headerMaxLength = 60;
const bodyMaxLength = 1_024;
const urlMaxLength = 2_000;
const couponMaxLength = 20;
const offerCodeMaxLength = 15;
const offerBodyMaxLength = 600;
const productBodyMaxLength = 160;
const noText: TextNeed = { appearances: [], fixedLength: 0, maxLength: bodyMaxLength };
const authenticationBody: TextNeed = { appearances: [1], fixedLength: 0, maxLength: bodyMaxLength };

/** Card media are left out: a template in the making has only upload handles. */
export type ParameterNeeds = Omit<ParameterContract, 'cards'> & { readonly cards: readonly Omit<CardNeed, 'media'>[] };

/** Their messages need an order, for which a send has no field. */
const orderSubCategories = new Set(['ORDER_DETAILS', 'ORDER_STATUS', 'RICH_ORDER_STATUS']);

/**
 * Returns what a send of a template must carry. Refuses with 422 a template that is not APPROVED or whose card media
 * cannot be found, and as `parameterNeeds` does (D23).
 */
export function parameterContract(template: PlatformTemplate): ParameterContract {
  if (template.status.toUpperCase() !== 'APPROVED') {
    throw notSendable(notApproved(template.status));
  }
  const needs = parameterNeeds(template);
  const given = cardsOf(template);
  return { ...needs, cards: needs.cards.map((card, index) => ({ ...card, media: cardMedia(given[index] ?? []) })) };
}

/** Says why a template of this status cannot be sent (D23). */
export function notApproved(status: string): string {
  return `the template is not APPROVED: its status is ${status}`;
}

/**
 * Returns the needs, whatever the status. Refuses with 422 what can never be sent from here: direct messages, named
 * parameters, and inputs that the interface lacks or does not know.
 */
export function parameterNeeds(template: PlatformTemplate): ParameterNeeds {
  refuseDirectMessages(template);
  if (template.parameter_format?.toUpperCase() === 'NAMED') throw notSendable(namedParameters);
  if (orderSubCategories.has(String(template['sub_category']).toUpperCase())) {
    throw notSendable('templates for orders cannot be sent through this interface');
  }
  refuseUnlistedKinds(template);
  const component = (type: string) => template.components.find((each) => each.type.toUpperCase() === type);
  const offer = component('LIMITED_TIME_OFFER');
  if (offer?.limited_time_offer?.has_expiration === true) {
    throw notSendable('limited-time offers with an expiration cannot be sent through this interface');
  }
  const buttons = component('BUTTONS')?.buttons ?? [];
  const authentication = template.category.toUpperCase() === 'AUTHENTICATION';
  const codeButton = buttons.findIndex((button) => isCodeButton(button, authentication));
  const productList = buttons.findIndex((button) => button.type.toUpperCase() === 'MPM');
  const flows = placesOf('FLOW', buttons);
  const header = headerNeed(component('HEADER'), buttons);
  const longest =
    header.kind === 'product' ? productBodyMaxLength : offer === undefined ? bodyMaxLength : offerBodyMaxLength;
  return {
    header,
    body: authentication ? authenticationBody : textNeed(component('BODY')?.text, longest),
    ...buttonNeeds(buttons, codeButton, offer === undefined ? couponMaxLength : offerCodeMaxLength),
    ...(flows.length === 0 ? {} : { flows }),
    ...(codeButton < 0 ? {} : { codeButton }),
    ...(productList < 0 ? {} : { productList }),
    cards: cardsOf(template).map(cardNeed),
    phoneNumbersOnly: phoneNumbersOnly(template, authentication),
  };
}

function phoneNumbersOnly(
  { optimization_spec: bid }: PlatformTemplate,
  authentication: boolean,
): ParameterContract['phoneNumbersOnly'] {
  if (authentication) return 'code';
  return bid === undefined ? undefined : 'bid';
}

/** Returns why a template can never be sent from here, in the words of a send's refusal. */
export function neverSendable(template: PlatformTemplate): string | undefined {
  try {
    parameterNeeds(template);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

const namedParameters = 'templates with named parameters cannot be sent: only positional placeholders are supported';

function headerNeed(header: TemplateComponent | undefined, buttons: readonly TemplateButton[]): HeaderNeed {
  if (buttons.some((button) => button.type.toUpperCase() === 'SPM')) return { kind: 'product' };
  const format = header?.format?.toUpperCase();
  if (format === undefined) return { kind: 'none' };
  const given = givenOf(format).header;
  if (given === undefined) {
    throw notSendable(`templates with a header of format ${format} cannot be sent through this interface`);
  }
  if (given === 'product') return { kind: given };
  if (given !== 'text') return { kind: 'input', type: given };
  const text = textNeed(header?.text, headerMaxLength);
  return text.appearances.length === 0 ? { kind: 'none' } : { kind: given, text };
}

interface Given {
  readonly header?: 'text' | 'product' | HeaderInput['type'];
  readonly card?: CardNeed['media']['kind'];
}

/** A header of the format takes this in a message or on a card; where there is nothing, no send has a field for it. */
const givenFor: Readonly<Record<HeaderFormat, Given>> = {
  TEXT: { header: 'text' },
  IMAGE: { header: 'image_url', card: 'image' },
  VIDEO: { header: 'video_url', card: 'video' },
  DOCUMENT: { header: 'document_url' },
  GIF: {},
  LOCATION: { header: 'location' },
  PRODUCT: { header: 'product' },
};

function givenOf(format: string): Given {
  return Object.hasOwn(givenFor, format) ? givenFor[format as HeaderFormat] : {};
}

function cardsOf({ components }: PlatformTemplate): readonly (readonly TemplateComponent[])[] {
  const carousel = components.find((each) => each.type.toUpperCase() === 'CAROUSEL');
  return (carousel?.cards ?? []).map((card) => card.components);
}

function cardNeed(components: readonly TemplateComponent[]): Omit<CardNeed, 'media'> {
  const component = (type: string) => components.find((each) => each.type.toUpperCase() === type);
  // A card without a medium that a send can show is refused.
  mediumOf(component('HEADER'));
  return {
    body: textNeed(component('BODY')?.text, productBodyMaxLength),
    ...buttonNeeds(component('BUTTONS')?.buttons ?? [], -1, couponMaxLength),
  };
}

function cardMedia(components: readonly TemplateComponent[]): CardNeed['media'] {
  const header = components.find((each) => each.type.toUpperCase() === 'HEADER');
  const handles: unknown = header?.example?.['header_handle'];
  const link: unknown = Array.isArray(handles) ? handles[0] : undefined;
  if (typeof link !== 'string' || !URL.canParse(link) || new URL(link).protocol !== 'https:') {
    throw notSendable('the media of the carousel cards cannot be resolved');
  }
  return { kind: mediumOf(header), link };
}

function mediumOf(header: TemplateComponent | undefined): CardNeed['media']['kind'] {
  const { card } = givenOf(header?.format?.toUpperCase() ?? '');
  if (card === undefined) throw notSendable('carousels of product cards cannot be sent through this interface');
  return card;
}

/** The platform returns one-time-password buttons as URL buttons (platform reference, 2.3). */
function isCodeButton(button: TemplateButton, authentication: boolean): boolean {
  const type = button.type.toUpperCase();
  return type === 'OTP' || button.otp_type !== undefined || (authentication && type === 'URL');
}

/** A redirect is a static URL for senders: they fill only the other buttons with variables. */
function buttonNeeds(
  buttons: readonly TemplateButton[],
  codeButton: number,
  couponLength: number,
): Pick<CardNeed, 'buttons' | 'redirects' | 'quickReplies'> {
  const redirects = buttons.flatMap((button, index) => {
    const code = index === codeButton || button.type.toUpperCase() !== 'URL' ? undefined : redirectCodeOf(button);
    return code === undefined ? [] : [{ index, code }];
  });
  const filledHere = new Set(redirects.map(({ index }) => index));
  const dynamic = dynamicButtons(buttons, codeButton, couponLength).filter(({ index }) => !filledHere.has(index));
  const quickReplies = placesOf('QUICK_REPLY', buttons);
  return {
    buttons: dynamic,
    ...(redirects.length === 0 ? {} : { redirects }),
    ...(quickReplies.length === 0 ? {} : { quickReplies }),
  };
}

function placesOf(wanted: string, buttons: readonly TemplateButton[]): number[] {
  return buttons.flatMap(({ type }, index) => (type.toUpperCase() === wanted ? [index] : []));
}

/**
 * Returns buttons that take a client's value. Other listed kinds need none unless they show a variable: a flow needs no
 * token, a catalog no thumbnail.
 */
function dynamicButtons(buttons: readonly TemplateButton[], codeButton: number, couponLength: number): DynamicButton[] {
  const dynamic: DynamicButton[] = [];
  for (const [index, button] of buttons.entries()) {
    const type = button.type.toUpperCase();
    if (index === codeButton) continue;
    if (type === 'COPY_CODE') dynamic.push({ index, kind: 'copy_code', fixedLength: 0, maxLength: couponLength });
    else if (type === 'URL') {
      const url = textNeed(button.url, 0);
      if (url.appearances.length > 1) throw notSendable('a URL button has more than one variable');
      if (url.appearances.length === 1) {
        dynamic.push({ index, kind: 'url', fixedLength: url.fixedLength, maxLength: urlMaxLength });
      }
    } else if (type === 'OTP' || textNeed(JSON.stringify(button), 0).appearances.length > 0) {
      throw notSendable(`templates with a button of type ${type} cannot be sent through this interface`);
    }
  }
  return dynamic;
}

/** Counts the variables of a text; `{{ 1 }}` equals `{{1}}`. Refuses named ones whatever `parameter_format` says. */
function textNeed(text: string | null | undefined, maxLength: number): TextNeed {
  if (text === null || text === undefined) return { ...noText, maxLength };
  const appearances: number[] = [];
  let fixedLength = lengthOf(text);
  for (const [placeholder, inner = ''] of text.matchAll(/\{\{([^{}]*)\}\}/g)) {
    const name = inner.trim();
    if (/^[a-z_]\w*$/i.test(name)) throw notSendable(namedParameters);
    if (!/^[1-9]\d?$/.test(name)) continue;
    const position = Number(name) - 1;
    while (appearances.length <= position) appearances.push(0);
    appearances[position] = (appearances[position] ?? 0) + 1;
    fixedLength -= lengthOf(placeholder);
  }
  return { appearances, fixedLength, maxLength };
}

/** Returns the length in code points, as people count: an emoji is not two. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
