import { describe, expect, test } from 'vitest';
import { defineTemplate, mismatch, refusalOfSend } from './support/refused-sends.ts';
import { body, button, header, secondWaba, text } from './support/simulator.ts';
import { location, product, productList, type SendableTemplate, validSends } from './support/valid-sends.ts';

/*
 * What a send gives against what its template asks for. Agreement tests of the service hold both sides to every limit,
 * so one text that is too long stands here; send-refused.test.ts asks over HTTP.
 */

type Row = readonly [what: string, components: readonly unknown[], code: number, details?: string];

const [firstCard, secondCard] = validSends.city_tour.components[1].cards;
const [tourBody] = validSends.city_tour.components;
const carousel = (...cards: unknown[]) => [tourBody, { type: 'carousel', cards }];
const tourWith = (components: readonly unknown[]) => carousel(firstCard, { card_index: 1, components });
const urlButton = button('url', 0, text('A-1042'));
const link = (...values: string[]) => [body('a', 'b'), button('url', 0, ...values.map(text))];
const order = (...parts: unknown[]) => [...parts, urlButton];
const bodyOf = (...parameters: unknown[]) => ({ type: 'body', parameters });
const offerEnding = (expiration_time_ms: number) => ({
  type: 'limited_time_offer',
  parameters: [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms } }],
});
const image = (medium: object) => ({ type: 'image', image: medium });
const welcome = (...parameters: unknown[]) => [header(...parameters), body('Ana')];
const payload = (value: string) => ({ type: 'payload', payload: value });
const replying = (index: number, ...parameters: unknown[]) => [
  ...validSends.welcome_offer.components,
  button('quick_reply', index, ...parameters),
];
const visit = (changes: object) => [header({ type: 'location', location: { ...location, ...changes } }), body('Ana')];
const coupon = (code: string) => button('copy_code', 0, { type: 'coupon_code', coupon_code: code });
const named = (name: string, value: string) => ({ ...text(value), parameter_name: name });
const mpm = (action: unknown) => button('mpm', 0, { type: 'action', action });
const picks = (...rest: unknown[]) => [header(text('Ana')), body('SPRING20'), ...rest];
const picking = (changes: object) => picks(mpm({ ...productList, ...changes }));
const items = [{ product_retailer_id: 'SKU-1' }];
const noProduct = [{ product_retailer_id: '' }];
const needsValue = (kind: string) => `Button at index 0 of type ${kind} requires a parameter`;
const notImage = (received: string) => `Format mismatch, expected IMAGE, received ${received}`;

const refused: Readonly<Partial<Record<SendableTemplate, readonly Row[]>>> = {
  order_update: [
    ['one body value of two', order(body('Ana')), 132000, `body: ${mismatch(1, 2)}`],
    ['three body values', order(body('a', 'b', 'c')), 132000, `body: ${mismatch(3, 2)}`],
    ['a header it has not', order(header(text('x')), body('a', 'b')), 132000, `header: ${mismatch(1, 0)}`],
    ['button value missing', [body('a', 'b')], 131008, `buttons: ${needsValue('Url')}`],
    ['button part empty', link(), 131008, needsValue('Url').slice(0, -21)],
    ['two button values', link('a', 'b'), 132000, mismatch(2, 1)],
    ['no button there', order(body('a', 'b'), button('url', 1, text('b'))), 132012, 'index 1'],
    [
      'button of another kind',
      [body('a', 'b'), button('quick_reply', 0)],
      132012,
      'expected URL, received QUICK_REPLY',
    ],
    ['empty value', order(body('', 'b')), 131008, 'missing text value'],
    ['blank value', order(body('  ', 'b')), 131008, 'missing text value'],
    ['value without text', order(bodyOf({ type: 'text' }, text('b'))), 131008],
    ['blank in a link', link('a b'), 131009, 'percent-encoded'],
    ['empty button value', link(''), 131008],
    ['new line', order(body('a\nb', 'b')), 100, 'new-line/tab'],
    ['tab', order(body('a\tb', 'b')), 100, 'new-line/tab'],
    ['five spaces', order(body('a     b', 'b')), 100, '4 consecutive spaces'],
    ['filled body too long', order(body('x'.repeat(1_100), 'b')), 132005, 'body'],
    ['image in the body', order(bodyOf(image({ id: '1' }), text('b'))), 132012, 'expected TEXT, received IMAGE'],
    ['cards it has not', order(body('a', 'b'), { type: 'carousel', cards: [firstCard] }), 132000, 'cards (1) does not'],
    ['an offer it has not', order(body('a', 'b'), offerEnding(9e12)), 132000, 'limited_time_offer'],
    ['a payload for a link', [body('a', 'b'), button('url', 0, payload('a'))], 132012, 'TEXT, received PAYLOAD'],
  ],
  welcome_offer: [
    ['no header', [body('Ana')], 132012, `header: ${notImage('UNKNOWN')}`],
    ['text header', welcome(text('x')), 132012, `header: ${notImage('TEXT')}`],
    ['video header', welcome({ type: 'video', video: { id: '1' } }), 132012, notImage('VIDEO')],
    ['neither id nor link', welcome(image({})), 131008, 'either id or link'],
    ['both id and link', welcome(image({ id: '1', link: 'https://a.example/b' })), 131009],
    ['no link', welcome(image({ link: 'not a link' })), 131009, 'link is not a valid URL'],
    ['no media id', welcome(image({ id: '4::abc' })), 131009, 'media id'],
    ['two images', welcome(image({ id: '1' }), image({ id: '2' })), 132000],
    ['empty payload', replying(1, payload('')), 131008, 'payload'],
    ['text for a payload', replying(1, text('a')), 132012, 'expected PAYLOAD, received TEXT'],
    ['a payload of 129 characters', replying(1, payload('x'.repeat(129))), 131009, '128 characters'],
    ['two payloads', replying(1, payload('a'), payload('b')), 132000, mismatch(2, 1)],
    ['a payload for a button it has not', replying(2, payload('a')), 132012, 'no button at index 2'],
    ['two parts for one quick reply', [...replying(0), button('quick_reply', 0)], 100],
  ],
  login_code: [['no button value', [body('482913')], 131008, needsValue('Url')]],
  store_visit: [
    ['no location', [body('Ana')], 132012, 'header: Format mismatch, expected LOCATION, received UNKNOWN'],
    ['latitude beyond the pole', visit({ latitude: '91' }), 131009, 'latitude'],
    ['longitude in words', visit({ longitude: 'west' }), 131009, 'longitude'],
    ['latitude empty', visit({ latitude: '' }), 131008, 'latitude'],
  ],
  coupon_drop: [
    ['no code', [], 131008, needsValue('CopyCode')],
    ['code of other characters', [coupon('SAVE-25')], 131009, 'alphanumeric'],
    ['code empty', [coupon('')], 131008, 'coupon_code'],
    ['value for a static link', [coupon('SAVE'), button('url', 1, text('x'))], 132000, `index 1: ${mismatch(1, 0)}`],
  ],
  named_params: [
    ['names missing', [body('Ana', 'A-1042')], 100, 'Parameter name is missing or empty'],
    ['one of two', [body('Ana')], 132000, `body: ${mismatch(1, 2)}`],
    ['a name it has not', [bodyOf(named('customer_name', 'a'), named('order', 'b'))], 100, 'order'],
    ['a name twice', [bodyOf(named('customer_name', 'a'), named('customer_name', 'b'))], 100, 'customer_name'],
  ],
  spring_picks: [
    ['no product list', picks(), 131008, needsValue('Mpm')],
    ['no header value', [body('x'), mpm(productList)], 132000, `header: ${mismatch(0, 1)}`],
    ['no thumbnail', picking({ thumbnail_product_retailer_id: undefined }), 131008, 'thumbnail_product_retailer_id'],
    ['no sections', picking({ sections: [] }), 131008, 'sections'],
    ['section without products', picking({ sections: [{ title: 'A', product_items: [] }] }), 131008, 'product_items'],
    ['no product id', picking({ sections: [{ title: 'A', product_items: noProduct }] }), 131008, 'product_retailer_id'],
    ['no title', picking({ sections: [{ product_items: items }] }), 131008, 'title'],
    ['title too long', picking({ sections: [{ title: 'x'.repeat(25), product_items: items }] }), 131009, 'title'],
  ],
  single_pick: [
    ['no product', [], 132012, 'expected PRODUCT, received UNKNOWN'],
    [
      'empty id',
      [header({ type: 'product', product: { ...product, product_retailer_id: '' } })],
      131008,
      'header: product',
    ],
    [
      'catalog of others',
      [header({ type: 'product', product: { ...product, catalog_id: '1' } })],
      131009,
      'not linked',
    ],
    ['a value too many', [header({ type: 'product', product }), body('x')], 132000, mismatch(1, 0)],
  ],
  city_tour: [
    ['no cards', [tourBody], 132000, 'cards (0) does not match the expected number of cards (2)'],
    ['one card of two', carousel(firstCard), 132000, 'cards (1) does not match'],
    ['three cards', carousel(firstCard, secondCard, { ...secondCard, card_index: 2 }), 132000, 'cards (3)'],
    ['the same index twice', carousel(firstCard, firstCard), 131009, 'card_index'],
    [
      'a card without its image',
      tourWith(secondCard.components.slice(1)),
      132012,
      `card 1 header: ${notImage('UNKNOWN')}`,
    ],
    [
      'a card without its value',
      tourWith(secondCard.components.toSpliced(1, 1)),
      132000,
      `card 1 body: ${mismatch(0, 1)}`,
    ],
    [
      'a card without its link',
      tourWith(secondCard.components.slice(0, 3)),
      131008,
      'card 1 buttons: Button at index 1',
    ],
    [
      'an empty payload in a card',
      tourWith(secondCard.components.toSpliced(2, 1, button('quick_reply', 0, payload('')))),
      ...([131008, 'card 1 buttons: payload is empty'] as const),
    ],
  ],
};

test.each(Object.entries(refused).flatMap(([name, rows]) => rows.map((row): [string, ...Row] => [name, ...row])))(
  '%s is refused: %s',
  (name, _, components, code, details = '') => {
    const refusal = refusalOfSend(name, components);
    expect(refusal).toMatchObject({ code });
    expect(JSON.stringify(refusal)).toContain(details);
  },
);

test.each(Object.keys(refused))('%s with all that it asks for is accepted', (name) => {
  expect(refusalOfSend(name, validSends[name as SendableTemplate].components)).toBeUndefined();
});

test('of the other WABA: three values in the body, one in the header', () => {
  const refusal = refusalOfSend('appointment_reminder', [header(text('Ana')), body('Ana')], secondWaba);
  expect(JSON.stringify(refusal)).toContain(`body: ${mismatch(1, 3)}`);
});

test.each<[string, object, string]>([
  ['without an index', { sub_type: 'quick_reply' }, 'The parameter index of a button is required.'],
  ['without a kind', { index: 0 }, 'The parameter sub_type of a button is required.'],
  ['with an index that is none', { sub_type: 'quick_reply', index: 'first' }, "['index'] must be valid"],
  ['without a payload', { ...button('quick_reply', 0, { type: 'payload' }) }, "['payload'] is required"],
  ['with a number for a payload', button('quick_reply', 0, { type: 'payload', payload: 7 }), 'must be a string'],
])('a quick reply %s: 100', (_, part, message) => {
  const components = [...validSends.welcome_offer.components, { type: 'button', ...part }];
  const refusal = refusalOfSend('welcome_offer', components);
  expect(refusal).toMatchObject({ code: 100, message: expect.stringContaining(message) });
});

test('a key in the spelling of our own interface, and a button of a kind that no message names: 100', () => {
  const spelled = picks(mpm({ thumbnailProductRetailerId: 'SKU-1', sections: productList.sections }));
  expect(refusalOfSend('spring_picks', spelled)).toMatchObject({
    code: 100,
    message: `(#100) Unexpected key "thumbnailProductRetailerId" on param "template['components'][2]['parameters'][0]['action']".`,
  });
  const components = [...validSends.single_pick.components, { type: 'button', sub_type: 'spm', index: 0 }];
  expect(refusalOfSend('single_pick', components)).toMatchObject({
    code: 100,
    message: expect.stringMatching(/\['sub_type'\] must be one of \{BOOKING_CONFIRMATION, .*VOICE_CALL\} - got "spm"/),
  });
});

describe('templates that the demo data have not', () => {
  const part = (type: string, more: object = {}) => ({ type, ...more });
  const text = (value: string) => ({ type: 'BODY', text: value });
  const product = { components: [part('HEADER', { format: 'PRODUCT' }), part('BUTTONS', { buttons: [part('SPM')] })] };
  defineTemplate('flash_offer', 'MARKETING', [
    part('LIMITED_TIME_OFFER', { limited_time_offer: { text: 'Ends soon', has_expiration: true } }),
    text('Hello {{1}}, only today.'),
    part('BUTTONS', { buttons: [part('COPY_CODE'), part('URL', { url: 'https://andes.example.com' })] }),
  ]);
  defineTemplate('product_row', 'MARKETING', [text('Hello {{1}}.'), part('CAROUSEL', { cards: [product, product] })]);
  defineTemplate('may_we_call', 'UTILITY', [
    ...[text('Hello {{1}}, may we call you?'), part('CALL_PERMISSION_REQUEST')],
    part('BUTTONS', { buttons: [part('REQUEST_CONTACT_INFO')] }),
  ]);
  defineTemplate('survey', 'UTILITY', [
    ...[part('HEADER', { format: 'DOCUMENT' }), text('Please answer three questions.')],
    part('BUTTONS', { buttons: [part('FLOW', { flow_id: '1' }), part('CATALOG')] }),
  ]);

  const tomorrowMs = Date.parse('2026-11-21T12:00:00Z');
  const card = (index: number, catalog = '600000000000001') => ({
    card_index: index,
    components: [header({ type: 'product', product: { product_retailer_id: `SKU-${index}`, catalog_id: catalog } })],
  });
  const row = (...cards: readonly object[]) => [body('Ana'), { type: 'carousel', cards }];
  const cards = (count: number) => Array.from({ length: count }, (_, index) => card(index));
  const file = header({ type: 'document', document: { link: 'https://andes.example.com/a.pdf', filename: 'a.pdf' } });
  const flow = (data: unknown) =>
    button('flow', 0, { type: 'action', action: { flow_token: 't', flow_action_data: data } });
  const catalog = button('CATALOG', 1, { type: 'action', action: { thumbnail_product_retailer_id: 'SKU-1' } });
  const noText = { type: 'limited_time_offer', parameters: [{ type: 'text', text: 'x' }] };

  test.each<[string, string, readonly unknown[], number | undefined]>([
    ['flash_offer', 'ends tomorrow', [body('Ana'), coupon('SAVE'), offerEnding(tomorrowMs)], undefined],
    ['flash_offer', 'no end', [body('Ana'), coupon('SAVE')], 131008],
    ['flash_offer', 'seconds for milliseconds', [body('Ana'), coupon('SAVE'), offerEnding(tomorrowMs / 1_000)], 131009],
    ['flash_offer', 'another parameter', [body('Ana'), coupon('SAVE'), noText], 132012],
    ['product_row', '2 cards', row(...cards(2)), undefined],
    ['product_row', '10 cards', row(...cards(10)), undefined],
    ['product_row', '1 card', row(...cards(1)), 132000],
    ['product_row', '11 cards', row(...cards(11)), 132000],
    ['product_row', 'a gap in the numbering', row(card(0), card(2)), 131009],
    ['product_row', 'a catalog of somebody else', row(card(0), card(1, '1')), 131009],
    ['survey', 'all parameters', [file, flow({ a: 1 }), catalog], undefined],
    ['survey', 'a flow that takes no parameter', [file, button('flow', 0)], undefined],
    ['survey', 'a flow whose data are null', [file, flow(null), catalog], 131009],
    ['survey', 'a flow that the message does not name', [file, catalog], 131009],
    ['survey', 'text for a flow', [file, button('flow', 0, { type: 'text', text: 'x' })], 132012],
    ['survey', 'image for a document', [header(image({ id: '1' }))], 132012],
    ['survey', 'values for a body without variables', [file, flow({ a: 1 }), body('x')], 132000],
    ['may_we_call', 'nothing but its value', [body('Ana')], undefined],
    ['may_we_call', 'a part for what asks for contact data', [body('Ana'), button('quick_reply', 0)], 132012],
  ])('%s, %s: %s', (name, _, components, code) => {
    expect(refusalOfSend(name, components)?.['code']).toBe(code);
  });
});
