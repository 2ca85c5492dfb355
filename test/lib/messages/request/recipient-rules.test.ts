import { expect, test } from 'vitest';
import { FaultList } from '../../../../lib/http/fault-list.ts';
import type { HeaderInput, Recipient } from '../../../../lib/messages/dispatch/head.ts';
import { parameterContract } from '../../../../lib/messages/request/parameter-contract.ts';
import { checkHeaderInput, checkRecipients } from '../../../../lib/messages/request/recipient-rules.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { body, buttons, makeTemplate, sendable, textHeader, urlButton } from '../../../support/platform-templates.ts';

const to = '5491155550001';
type Params = NonNullable<Recipient['params']>;

function faultsOf(template: PlatformTemplate, ...recipients: Recipient[]): string[] {
  const faults = new FaultList();
  checkRecipients(parameterContract(template), recipients, faults);
  return faults.listed().map((fault) => `${fault.path}: ${fault.message}`);
}

function action(sections?: Record<string, string[]>, thumbnail = 'p1') {
  const list = Object.entries(sections ?? {}).map(([title, ids]) => ({
    title,
    product_items: ids.map((product_retailer_id) => ({ product_retailer_id })),
  }));
  return {
    type: 'action' as const,
    action: { thumbnailProductRetailerId: thumbnail, ...(sections === undefined ? {} : { sections: list }) },
  };
}
const cards = [
  { body: ['Ana'], buttons: ['a'] },
  { body: ['Ana'], buttons: ['b'] },
];
const picks = { header: ['Ana'], body: ['Ana'] };

test.each<[string, PlatformTemplate, Params | undefined]>([
  ['nothing for nothing', sendable.plain, undefined],
  ['empty params for nothing', sendable.plain, { header: [], body: [], buttons: [], products: [], cards: [] }],
  ['body and button', sendable.order, { body: ['Ana', '17'], buttons: ['17?x=1'] }],
  ['a text header', sendable.textHeader, { header: ['17'], body: ['Ana'] }],
  ['a code', sendable.code, { body: ['123456'] }],
  ['a code, repeated for the button', sendable.code, { body: ['123456'], buttons: ['123456'] }],
  ['a code of 15 characters', sendable.code, { body: ['1'.repeat(15)] }],
  ['a coupon', sendable.coupon, { buttons: ['SAVE20'] }],
  ['several products', sendable.products, { ...picks, products: [action({ Shoes: ['p1', 'p2'] })] }],
  ['30 products', sendable.products, { ...picks, products: [action({ A: Array(30).fill('p') })] }],
  ['a title of 24', sendable.products, { ...picks, products: [action({ ['x'.repeat(24)]: ['p'] })] }],
  ['one product', sendable.product, { products: [action()] }],
  ['cards', sendable.carousel, { body: ['Ana'], cards }],
  ['4 spaces', sendable.bid, { body: ['a    b'] }],
  ['an emoji', sendable.bid, { body: ['🙂'] }],
  ['exactly 60 in the header', makeTemplate([textHeader('Hi {{1}}'), body('x')]), { header: ['a'.repeat(57)] }],
])('accepts %s', (_what, template, params) => {
  expect(faultsOf(template, params === undefined ? { to } : { to, params })).toEqual([]);
});

test.each<[string, PlatformTemplate, Params | undefined, string]>([
  ['no params', sendable.order, undefined, 'body: expected 2 values, received 0'],
  ['too few in body', sendable.order, { body: ['a'], buttons: ['b'] }, 'body: expected 2 values, received 1'],
  [
    'too many in body',
    sendable.order,
    { body: ['a', 'b', 'c'], buttons: ['b'] },
    'body: expected 2 values, received 3',
  ],
  ['no button value', sendable.order, { body: ['a', 'b'] }, 'buttons: expected 1 value, received 0'],
  [
    'a value for a static button',
    sendable.image,
    { body: ['a'], buttons: ['x'] },
    'buttons: expected 0 values, received 1',
  ],
  [
    'a header value for an image',
    sendable.image,
    { header: ['a'], body: ['a'] },
    'header: expected 0 values, received 1',
  ],
  ['no header value', sendable.textHeader, { body: ['a'] }, 'header: expected 1 value, received 0'],
  ['body on a plain template', sendable.plain, { body: ['a'] }, 'body: expected 0 values, received 1'],
  ['products on a plain template', sendable.plain, { products: [action()] }, 'products: expected 0 items, received 1'],
  [
    'products for a catalog',
    sendable.catalog,
    { body: ['a'], products: [action()] },
    'products: expected 0 items, received 1',
  ],
  ['cards on a plain template', sendable.plain, { cards: [{}] }, 'cards: expected 0 cards, received 1'],
  ['too few cards', sendable.carousel, { body: ['a'], cards: cards.slice(1) }, 'cards: expected 2 cards, received 1'],
  ['no cards', sendable.carousel, { body: ['a'] }, 'cards: expected 2 cards, received 0'],
  [
    'a card without body',
    sendable.carousel,
    { body: ['a'], cards: [{ buttons: ['a'] }, { body: ['b'], buttons: ['b'] }] },
    'cards[0].body: expected 1 value, received 0',
  ],
  [
    'a card without button',
    sendable.carousel,
    { body: ['a'], cards: [{ body: ['a'], buttons: ['a'] }, { body: ['b'] }] },
    'cards[1].buttons: expected 1 value, received 0',
  ],
  ['an empty value', sendable.bid, { body: [''] }, 'body[0]: expected a value, received an empty one'],
  ['a blank value', sendable.bid, { body: ['  '] }, 'body[0]: expected a value, received an empty one'],
  [
    'an empty button value',
    sendable.order,
    { body: ['a', 'b'], buttons: [''] },
    'buttons[0]: expected a value, received an empty one',
  ],
  [
    'an empty header value',
    sendable.textHeader,
    { header: [''], body: ['a'] },
    'header[0]: expected a value, received an empty one',
  ],
  [
    'a line break',
    sendable.bid,
    { body: ['a\nb'] },
    'body[0]: expected no line breaks, tabs or other control characters',
  ],
  ['a tab', sendable.bid, { body: ['a\tb'] }, 'body[0]: expected no line breaks, tabs or other control characters'],
  ['a NUL', sendable.bid, { body: ['a\u0000b'] }, 'body[0]: expected no line breaks, tabs or other control characters'],
  [
    'a line separator',
    sendable.bid,
    { body: ['a\u2028b'] },
    'body[0]: expected no line breaks, tabs or other control characters',
  ],
  [
    'a control character in a URL',
    sendable.order,
    { body: ['a', 'b'], buttons: ['a\r'] },
    'buttons[0]: expected no line breaks, tabs or other control characters',
  ],
  ['5 spaces', sendable.bid, { body: ['a     b'] }, 'body[0]: expected at most 4 spaces in a row'],
  [
    'half a surrogate pair',
    sendable.bid,
    { body: ['a\ud800'] },
    'body[0]: expected well-formed text, received half of a surrogate pair',
  ],
  [
    'a body too long when filled',
    makeTemplate([body('{{1}}, {{1}}.')]),
    { body: ['a'.repeat(511)] },
    'body: expected at most 1024 characters after filling, received 1025',
  ],
  [
    'a header too long when filled',
    makeTemplate([textHeader('Hi {{1}}'), body('x')]),
    { header: ['a'.repeat(58)] },
    'header: expected at most 60 characters after filling, received 61',
  ],
  [
    'a card too long when filled',
    sendable.carousel,
    {
      body: ['a'],
      cards: [
        { body: ['a'.repeat(150)], buttons: ['a'] },
        { body: ['b'], buttons: ['b'] },
      ],
    },
    'cards[0].body: expected at most 160 characters after filling, received 170',
  ],
  [
    'a URL too long when filled',
    makeTemplate([body('x'), buttons(urlButton)]),
    { buttons: ['ñ'.repeat(330)] },
    'buttons[0]: expected a URL of at most 2000 characters, received 2012',
  ],
  [
    'a coupon of 21',
    sendable.coupon,
    { buttons: ['A'.repeat(21)] },
    'buttons[0]: expected 1 to 20 letters or digits, received "AAAAAAAAAAAAAAAAAAAAA"',
  ],
  [
    'a coupon with a dash',
    sendable.coupon,
    { buttons: ['A-1'] },
    'buttons[0]: expected 1 to 20 letters or digits, received "A-1"',
  ],
  [
    'a coupon with a line end',
    sendable.coupon,
    { buttons: ['A1\n'] },
    'buttons[0]: expected 1 to 20 letters or digits, received "A1\\n"',
  ],
  [
    'an empty coupon',
    sendable.coupon,
    { buttons: [''] },
    'buttons[0]: expected 1 to 20 letters or digits, received ""',
  ],
  ['no code', sendable.code, {}, 'body: expected 1 value, received 0'],
  [
    'a code of 16',
    sendable.code,
    { body: ['1'.repeat(16)] },
    'body: expected a code of at most 15 characters, received 16',
  ],
  [
    'another code for the button',
    sendable.code,
    { body: ['1'], buttons: ['2'] },
    'buttons: expected the same code as in body',
  ],
  [
    'two codes for the button',
    sendable.code,
    { body: ['1'], buttons: ['1', '1'] },
    'buttons: expected at most 1 value, received 2',
  ],
  ['no products', sendable.products, picks, 'products: expected 1 item, received 0'],
  [
    'two product lists',
    sendable.products,
    { ...picks, products: [action({ A: ['p'] }), action({ A: ['p'] })] },
    'products: expected 1 item, received 2',
  ],
  [
    'no sections',
    sendable.products,
    { ...picks, products: [action()] },
    'products[0].action.sections: expected 1 to 10 sections, received 0',
  ],
  [
    '11 sections',
    sendable.products,
    { ...picks, products: [action(Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`s${i}`, ['p']])))] },
    'products[0].action.sections: expected 1 to 10 sections, received 11',
  ],
  [
    '31 products',
    sendable.products,
    { ...picks, products: [action({ A: Array(16).fill('p'), B: Array(15).fill('p') })] },
    'products[0].action.sections: expected at most 30 products, received 31',
  ],
  [
    'an empty section',
    sendable.products,
    { ...picks, products: [action({ A: [] })] },
    'products[0].action.sections[0].product_items: expected at least 1 item, received 0',
  ],
  [
    'a title of 25',
    sendable.products,
    { ...picks, products: [action({ ['x'.repeat(25)]: ['p'] })] },
    'products[0].action.sections[0].title: expected at most 24 characters, received 25',
  ],
  [
    'an empty title',
    sendable.products,
    { ...picks, products: [action({ '': ['p'] })] },
    'products[0].action.sections[0].title: expected a value, received an empty one',
  ],
  [
    'a blank product',
    sendable.products,
    { ...picks, products: [action({ A: [' '] })] },
    'products[0].action.sections[0].product_items[0].product_retailer_id: expected a value, received an empty one',
  ],
  [
    'sections for one product',
    sendable.product,
    { products: [action({ A: ['p'] })] },
    'products[0].action.sections: expected no sections for a single product',
  ],
  [
    'a blank thumbnail',
    sendable.product,
    { products: [action(undefined, ' ')] },
    'products[0].action.thumbnailProductRetailerId: expected a value, received an empty one',
  ],
])('refuses %s', (_what, template, params, fault) => {
  const good: Recipient = { to: '5491155550002', params };
  expect(faultsOf(template, good)).toContain(`recipients[0].params.${fault}`);
});

test('every recipient is checked, and named by its index', () => {
  const good: Recipient = { to, params: { body: ['a', 'b'], buttons: ['c'] } };
  expect(faultsOf(sendable.order, good, { to }, good, { to, params: { body: ['a', ''], buttons: ['c'] } })).toEqual([
    'recipients[1].params.body: expected 2 values, received 0',
    'recipients[1].params.buttons: expected 1 value, received 0',
    'recipients[3].params.body[1]: expected a value, received an empty one',
  ]);
});

test('one-time codes and a template with a bid go to phone numbers only (platform code 131062)', () => {
  const number = { to, params: { body: ['a'] } };
  expect(faultsOf(sendable.bid, number, { to: 'US.abc', params: { body: ['a'] } })).toEqual([
    'recipients[1].to: a template with optimization_spec can only be sent to phone numbers, received US.abc',
  ]);
  expect(faultsOf(sendable.code, number, { to: 'US.ENT.abc', params: { body: ['a'] } })).toEqual([
    'recipients[1].to: an AUTHENTICATION template can only be sent to phone numbers, received US.ENT.abc',
  ]);
  expect(faultsOf(sendable.image, { to: 'US.abc', params: { body: ['a'] } })).toEqual([]);
});

const image: HeaderInput = { type: 'image_url', value: 'https://cdn.example.com/a.png', filename: 'a.png' };
const location: HeaderInput = {
  type: 'location',
  location: { latitude: '-34.6', longitude: '-58.4', name: 'Shop', address: 'Street 1' },
};

test.each<[string, PlatformTemplate, HeaderInput | undefined, string[]]>([
  ['none where none is needed', sendable.plain, undefined, []],
  ['none where the header is text', sendable.textHeader, undefined, []],
  ['none for a product', sendable.product, undefined, []],
  ['an image', sendable.image, image, []],
  ['a video', sendable.video, { ...image, type: 'video_url' }, []],
  ['a document', sendable.document, { ...image, type: 'document_url' }, []],
  ['a location', sendable.location, location, []],
  [
    'an image on a plain template',
    sendable.plain,
    image,
    ['component.header: expected none for this template, received image_url'],
  ],
  [
    'a missing image',
    sendable.image,
    undefined,
    ['component.header: component.header is required: expected image_url, received none'],
  ],
  [
    'a missing location',
    sendable.location,
    undefined,
    ['component.header: component.header is required: expected location, received none'],
  ],
  [
    'a location for an image',
    sendable.image,
    location,
    ['component.header.type: expected image_url, received location'],
  ],
  ['an image for a video', sendable.video, image, ['component.header.type: expected video_url, received image_url']],
  [
    'an image for a location',
    sendable.location,
    image,
    ['component.header.type: expected location, received image_url'],
  ],
  [
    'plain http',
    sendable.image,
    { ...image, value: 'http://cdn.example.com/a.png' },
    ['component.header.value: must use https'],
  ],
  [
    'a private address',
    sendable.image,
    { ...image, value: 'https://10.0.0.1/a.png' },
    ['component.header.value: must name a public host'],
  ],
  [
    'credentials',
    sendable.image,
    { ...image, value: 'https://u:p@cdn.example.com/' },
    ['component.header.value: must not carry credentials'],
  ],
  [
    'a file name of two lines',
    sendable.image,
    { ...image, filename: 'a\nb' },
    ['component.header.filename: expected no line breaks, tabs or other control characters'],
  ],
  [
    'a blank place',
    sendable.location,
    { ...location, location: { ...location.location, name: ' ' } },
    ['component.header.location.name: expected a value, received an empty one'],
  ],
])('component.header: %s', (_what, template, input, expected) => {
  const faults = new FaultList();
  checkHeaderInput(parameterContract(template).header, input, faults);
  expect(faults.listed().map((fault) => `${fault.path}: ${fault.message}`)).toEqual(expected);
});
