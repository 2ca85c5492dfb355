import { plainOf } from './formatting.ts';

export interface Button {
  readonly type: string;
  readonly text?: string | undefined;
  readonly url?: string | undefined;
  readonly phone_number?: string | undefined;
  readonly example?: unknown;
}

/** A read returns components in this form. */
export interface Component {
  readonly type: string;
  readonly format?: string | undefined;
  readonly text?: string | undefined;
  readonly buttons?: readonly Button[] | undefined;
  readonly cards?: readonly { readonly components: readonly Component[] }[] | undefined;
  readonly limited_time_offer?: { readonly text?: unknown; readonly has_expiration?: boolean | undefined } | undefined;
  readonly example?: unknown;
}

/** A send's component is unchecked. */
export type Part = Readonly<Record<string, unknown>>;

export type HeaderView =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'media';
      readonly format: string;
      readonly mediaId: string;
      readonly link: string;
      readonly name: string;
    }
  | { readonly kind: 'location'; readonly name: string; readonly address: string; readonly at: string }
  | { readonly kind: 'product'; readonly product: string; readonly catalog: string };

export interface ButtonView {
  readonly kind: string;
  readonly text: string;
  /** The value is an address, a copied code, or a payload. */
  readonly value: string;
  /** A button with several products has sections. */
  readonly sections?: readonly ProductSection[];
}

export interface ProductSection {
  readonly title: string;
  readonly products: readonly string[];
}

/** A picture stands above a message with a catalog or several products. */
export interface TileView {
  readonly kind: 'catalog' | 'items';
  /** The retailer id is empty when the app chooses. */
  readonly product: string;
  readonly items: number;
}

export interface OfferView {
  readonly text: string;
  readonly code: string;
  readonly endsMs: number | undefined;
}

export interface PhoneView {
  readonly header: HeaderView | undefined;
  readonly body: string;
  readonly footer: string;
  readonly buttons: readonly ButtonView[];
  readonly cards: readonly PhoneView[];
  readonly offer: OfferView | undefined;
  readonly tile: TileView | undefined;
}

/** Fills the components with the send's values, or else with the template's examples. */
export function phoneView(components: readonly Component[], parts: readonly Part[] | undefined): PhoneView {
  const given = parts ?? exampleParts(components);
  const of = (type: string) => components.find((each) => each.type.toUpperCase() === type);
  const part = (type: string) => given.find((each) => textOf(each['type']).toLowerCase() === type);
  const offer = of('LIMITED_TIME_OFFER');
  const sent = listOf(part('carousel')?.['cards']).toSorted((a, b) => placeOf(a) - placeOf(b));
  const cards = of('CAROUSEL')?.cards ?? [];
  // Product cards follow the template's first card, because a send may have more of them.
  const shown = sent.length === 0 ? cards : sent.map((_, at) => cards[at] ?? cards[0]);
  const buttons = (of('BUTTONS')?.buttons ?? []).map((button, at) => buttonView(button, buttonPart(given, at)));
  return {
    header: headerView(of('HEADER'), parametersOf(part('header'))),
    body: filledIn(of('BODY')?.text ?? '', parametersOf(part('body'))),
    footer: of('FOOTER')?.text ?? '',
    buttons,
    cards: shown.map((card, at) =>
      phoneView(card?.components ?? [], parts === undefined ? undefined : listOf(sent[at]?.['components'])),
    ),
    offer: offer && {
      text: textOf(offer.limited_time_offer?.text),
      code: buttons.find(({ kind }) => kind === 'copy_code')?.value ?? '',
      endsMs: endOf(parametersOf(part('limited_time_offer'))[0]),
    },
    tile: tileOf(buttons),
  };
}

function tileOf(buttons: readonly ButtonView[]): TileView | undefined {
  const button = buttons.find(({ kind }) => kind === 'catalog' || kind === 'mpm');
  if (button === undefined) return undefined;
  const { kind, value: product, sections = [] } = button;
  const items = sections.reduce((count, { products }) => count + products.length, 0);
  return { kind: kind === 'catalog' ? 'catalog' : 'items', product, items };
}

function placeOf(card: Part): number {
  return Number(card['card_index']);
}

const mostButtons = 3;

/** Shows the first two of more than three buttons, and one that opens all. */
export function shownButtons(buttons: readonly ButtonView[]) {
  const shown = buttons.length > mostButtons ? buttons.slice(0, mostButtons - 1) : buttons;
  return { shown, others: buttons.length - shown.length };
}

export function purposeOf({ kind, value, text }: ButtonView): string {
  const purpose = purposes[kind];
  if (kind === 'quick_reply' && value === text) return 'Answers with its words';
  return purpose === undefined || (value === '' && purpose.endsWith(' ')) ? '' : `${purpose}${value}`;
}

const purposes: Readonly<Record<string, string>> = {
  url: 'Opens ',
  phone_number: 'Calls ',
  copy_code: 'Copies ',
  otp: 'Copies ',
  quick_reply: 'Answers with ',
  flow: 'Opens a form ',
  voice_call: 'Calls the business in the app',
  catalog: 'Opens the catalog ',
  mpm: 'Shows the items ',
  spm: 'Shows the product',
};

export function previewOf({ header, body, cards }: PhoneView): string {
  const first = header?.kind === 'text' ? `${header.text} · ` : '';
  const line = `${first}${plainOf(body)}`.replaceAll(/\s+/g, ' ').trim();
  return [...(line === '' ? plainOf(cards[0]?.body ?? '') : line)].slice(0, 140).join('');
}

function headerView(component: Component | undefined, [value]: readonly Part[]): HeaderView | undefined {
  if (component === undefined) return undefined;
  const format = (component.format ?? 'TEXT').toUpperCase();
  const held = recordOf(value?.[format.toLowerCase()]);
  if (format === 'TEXT')
    return { kind: 'text', text: filledIn(component.text ?? '', value === undefined ? [] : [value]) };
  if (format === 'LOCATION') {
    const at = [held['latitude'], held['longitude']].map(textOf).filter((each) => each !== '');
    return { kind: 'location', name: textOf(held['name']), address: textOf(held['address']), at: at.join(', ') };
  }
  if (format === 'PRODUCT') {
    return { kind: 'product', product: textOf(held['product_retailer_id']), catalog: textOf(held['catalog_id']) };
  }
  return {
    kind: 'media',
    format: format.toLowerCase(),
    mediaId: textOf(held['id']),
    link: textOf(held['link']),
    name: textOf(held['filename']),
  };
}

function buttonView(button: Button, part: Part | undefined): ButtonView {
  const [value] = parametersOf(part);
  const kind = button.type.toLowerCase();
  const text = button.text ?? labels[kind] ?? kind;
  if (kind === 'url') return { kind, text, value: filledIn(button.url ?? '', value === undefined ? [] : [value]) };
  if (kind === 'phone_number') return { kind, text, value: button.phone_number ?? '' };
  if (kind === 'copy_code') return { kind, text, value: textOf(value?.['coupon_code'] ?? exampleOf(button.example)) };
  if (kind === 'quick_reply') return { kind, text, value: textOf(value?.['payload']) || text };
  if (kind === 'otp') return { kind, text, value: textOf(value?.['text']) };
  const action = recordOf(value?.['action']);
  if (kind === 'flow') return { kind, text, value: textOf(action['flow_token']) };
  const sections = sectionsOf(action);
  const thumbnail = textOf(action['thumbnail_product_retailer_id']) || (sections[0]?.products[0] ?? '');
  return { kind, text, value: thumbnail, ...(sections.length === 0 ? {} : { sections }) };
}

const labels: Readonly<Record<string, string>> = {
  catalog: 'View catalog',
  mpm: 'View items',
  spm: 'View',
  voice_call: 'Call',
  flow: 'Open',
  request_contact_info: 'Share Contact Info',
};

function sectionsOf(action: Part): readonly ProductSection[] {
  return listOf(action['sections']).map((section) => ({
    title: textOf(section['title']),
    products: listOf(section['product_items']).map((item) => textOf(item['product_retailer_id'])),
  }));
}

function buttonPart(parts: readonly Part[], at: number): Part | undefined {
  return parts.find((each) => textOf(each['type']).toLowerCase() === 'button' && Number(each['index']) === at);
}

function endOf(value: Part | undefined): number | undefined {
  const ms = recordOf(value?.['limited_time_offer'])['expiration_time_ms'];
  return typeof ms === 'number' ? ms : undefined;
}

/** Replaces `{{1}}` and `{{name}}`; a variable without a value stays. */
function filledIn(text: string, values: readonly Part[]): string {
  const named = new Map(
    values.map((value, at) => [textOf(value['parameter_name']) || String(at + 1), textOfValue(value)]),
  );
  return text.replaceAll(/\{\{\s*([^{}\s]+)\s*\}\}/g, (whole, name: string) => named.get(name) ?? whole);
}

function textOfValue(value: Part): string {
  const worded = recordOf(value['currency'] ?? value['date_time'])['fallback_value'];
  return textOf(worded ?? value['text'] ?? value['payload'] ?? value['coupon_code']);
}

/** Returns the template's examples in the form of a send. */
function exampleParts(components: readonly Component[]): readonly Part[] {
  return components.flatMap((component): Part[] => {
    const example = recordOf(component.example);
    const texts = (values: readonly unknown[]) => values.map((text) => ({ type: 'text', text }));
    const namedOf = (key: string) =>
      listOf(example[key]).map((each) => ({ type: 'text', parameter_name: each['param_name'], text: each['example'] }));
    if (component.type === 'BODY') {
      const [first] = Array.isArray(example['body_text']) ? example['body_text'] : [];
      return [
        {
          type: 'body',
          parameters: [...texts(Array.isArray(first) ? first : []), ...namedOf('body_text_named_params')],
        },
      ];
    }
    if (component.type === 'HEADER' && (component.format ?? 'TEXT') === 'TEXT') {
      const values = Array.isArray(example['header_text']) ? example['header_text'] : [];
      return [{ type: 'header', parameters: [...texts(values), ...namedOf('header_text_named_params')] }];
    }
    return [];
  });
}

function exampleOf(example: unknown): unknown {
  return Array.isArray(example) ? example[0] : example;
}

function parametersOf(part: Part | undefined): readonly Part[] {
  return listOf(part?.['parameters']);
}

function listOf(value: unknown): readonly Part[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

function recordOf(value: unknown): Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Part) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
