import type { PlatformTemplate, TemplateButton, TemplateComponent } from '../../lib/templates/model/template.ts';

/** Makes a sendable template; all fields besides the components can be overridden. */
export function makeTemplate(
  components: readonly TemplateComponent[],
  overrides: Partial<PlatformTemplate> = {},
): PlatformTemplate {
  return {
    id: '900000000000001',
    name: 'order_update',
    language: 'en_US',
    status: 'APPROVED',
    category: 'UTILITY',
    components: [...components],
    ...overrides,
  };
}

export const body = (text: string): TemplateComponent => ({ type: 'BODY', text });
export const textHeader = (text: string): TemplateComponent => ({ type: 'HEADER', format: 'TEXT', text });
export const header = (format: string): TemplateComponent => ({ type: 'HEADER', format });
export const buttons = (...list: TemplateButton[]): TemplateComponent => ({ type: 'BUTTONS', buttons: list });

export const urlButton: TemplateButton = { type: 'URL', text: 'Track', url: 'https://shop.example.com/orders/{{1}}' };
export const staticUrlButton: TemplateButton = { type: 'URL', text: 'Shop', url: 'https://shop.example.com/' };
export const quickReply: TemplateButton = { type: 'QUICK_REPLY', text: 'Stop' };
export const copyCode: TemplateButton = { type: 'COPY_CODE', text: 'Copy offer code' };

export function card(text: string, ...list: TemplateButton[]) {
  const example = { header_handle: ['https://cdn.example.com/card.jpg'] };
  return { components: [{ type: 'HEADER', format: 'IMAGE', example }, body(text), buttons(...list)] };
}

/** Every kind that can be sent has one template. */
export const sendable = {
  plain: makeTemplate([body('Your order was received.')]),
  order: makeTemplate([body('Hello {{1}}, your order {{2}} left.'), buttons(urlButton)]),
  textHeader: makeTemplate([textHeader('Order {{1}} of today'), body('Thank you, {{1}}.')]),
  image: makeTemplate(
    [header('IMAGE'), body('Hola {{1}}, bienvenida.'), buttons(quickReply, { ...quickReply, text: 'More' })],
    { category: 'MARKETING' },
  ),
  video: makeTemplate([header('VIDEO'), body('Look.')], { category: 'MARKETING' }),
  document: makeTemplate([header('DOCUMENT'), body('Your invoice.')]),
  location: makeTemplate([header('LOCATION'), body('We wait for you, {{1}}.')]),
  code: makeTemplate(
    [
      body('*{{1}}* is your verification code.'),
      buttons({
        type: 'URL',
        text: 'Copy code',
        url: 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}',
      }),
    ],
    { category: 'AUTHENTICATION' },
  ),
  coupon: makeTemplate([body('Use it today.'), buttons(copyCode, staticUrlButton)], { category: 'MARKETING' }),
  mixedButtons: makeTemplate([body('Choose.'), buttons(quickReply, staticUrlButton, urlButton, copyCode)], {
    category: 'MARKETING',
  }),
  products: makeTemplate(
    [textHeader('Picks for {{1}} here'), body('Look at them, {{1}}.'), buttons({ type: 'MPM', text: 'View items' })],
    { category: 'MARKETING' },
  ),
  product: makeTemplate([header('PRODUCT'), body('Just for you.'), buttons({ type: 'SPM', text: 'View' })], {
    category: 'MARKETING',
  }),
  catalog: makeTemplate([body('Browse, {{1}}.'), buttons({ type: 'CATALOG', text: 'View catalog' })], {
    category: 'MARKETING',
  }),
  flow: makeTemplate([body('Book your visit.'), buttons(quickReply, { type: 'FLOW', text: 'Book' })]),
  carousel: makeTemplate(
    [
      body('City tours, {{1}}.'),
      {
        type: 'CAROUSEL',
        cards: [
          card('Old town with {{1}} today', quickReply, urlButton),
          card('Harbour with {{1}} today', quickReply, urlButton),
        ],
      },
    ],
    { category: 'MARKETING' },
  ),
  offer: makeTemplate(
    [body('Only today, {{1}}.'), { type: 'LIMITED_TIME_OFFER', limited_time_offer: { has_expiration: false } }],
    { category: 'MARKETING' },
  ),
  bid: makeTemplate([body('Offer for {{1}} today.')], {
    category: 'MARKETING',
    optimization_spec: { bid_amount: 5_000, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' },
  }),
} as const satisfies Record<string, PlatformTemplate>;
