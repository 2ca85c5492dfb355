import { expect, test } from 'vitest';
import { FaultList } from '../../../../lib/http/fault-list.ts';
import type { Recipient } from '../../../../lib/messages/dispatch/head.ts';
import { parameterContract } from '../../../../lib/messages/request/parameter-contract.ts';
import { checkHeaderInput, checkRecipients } from '../../../../lib/messages/request/recipient-rules.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { body, buttons, makeTemplate, sendable, textHeader, urlButton } from '../../../support/platform-templates.ts';
import { rows } from '../../../support/rows.ts';

const to = '5491155550001';
type Params = NonNullable<Recipient['params']>;

function faultsOf(template: PlatformTemplate, ...recipients: Recipient[]): string[] {
  const faults = new FaultList();
  checkRecipients(parameterContract(template), recipients, faults);
  return faults.listed().map((fault) => `${fault.path}: ${fault.message}`);
}

/** Products are given as the ids of each section, by its title; a single product has none. */
function productsOf(sections: string, thumbnail = 'p1'): Params['products'] {
  const list = Object.entries<string[]>(JSON.parse(sections || '{}')).map(([title, ids]) => ({
    title,
    product_items: ids.map((product_retailer_id) => ({ product_retailer_id })),
  }));
  const action = { thumbnailProductRetailerId: thumbnail, ...(sections === '' ? {} : { sections: list }) };
  return [{ type: 'action', action }];
}
const picks = { header: ['Ana'], body: ['Ana'] };
const templateOf = (name = '') => sendable[name as keyof typeof sendable] as PlatformTemplate;
const paramsIn = (json = '') => (json === '' ? {} : { params: JSON.parse(json) as Params });

test.each(rows`
  plain      |
  plain      | {"header":[],"body":[],"buttons":[],"products":[],"cards":[]}
  order      | {"body":["Ana","17"],"buttons":["17?x=1"]}
  textHeader | {"header":["17"],"body":["Ana"]}
  code       | {"body":["123456"]}
  code       | {"body":["123456"],"buttons":["123456"]}
  code       | {"body":["111111111111111"]}
  coupon     | {"buttons":["SAVE20"]}
  carousel   | {"body":["Ana"],"cards":[{"body":["Ana"],"buttons":["a"]},{"body":["Ana"],"buttons":["b"]}]}
  bid        | {"body":["a    b"]}
  bid        | {"body":["🙂"]}
`)('a template of kind %s takes %s', (name, params) => {
  expect(faultsOf(templateOf(name), { to, ...paramsIn(params) })).toEqual([]);
});

test.each(rows`
  order      |                                        | body: expected 2 values, received 0
  order      | {"body":["a"],"buttons":["b"]}         | body: expected 2 values, received 1
  order      | {"body":["a","b","c"],"buttons":["b"]} | body: expected 2 values, received 3
  order      | {"body":["a","b"]}                     | buttons: expected 1 value, received 0
  image      | {"body":["a"],"buttons":["x"]}         | buttons: expected 0 values, received 1
  image      | {"header":["a"],"body":["a"]}          | header: expected 0 values, received 1
  textHeader | {"body":["a"]}                         | header: expected 1 value, received 0
  plain      | {"body":["a"]}                         | body: expected 0 values, received 1
  plain      | {"cards":[{}]}                         | cards: expected 0 cards, received 1
  carousel   | {"body":["a"],"cards":[{"body":["a"],"buttons":["b"]}]} | cards: expected 2 cards, received 1
  carousel   | {"body":["a"]}                         | cards: expected 2 cards, received 0
  carousel | {"cards":[{"buttons":["a"]},{"body":["b"],"buttons":["b"]}]} | cards[0].body: expected 1 value, received 0
  carousel | {"cards":[{"body":["a"],"buttons":["a"]},{"body":["b"]}]} | cards[1].buttons: expected 1 value, received 0
  bid        | {"body":[""]}                          | body[0]: expected a value, received an empty one
  bid        | {"body":["  "]}                        | body[0]: expected a value, received an empty one
  order      | {"body":["a","b"],"buttons":[""]}      | buttons[0]: expected a value, received an empty one
  textHeader | {"header":[""],"body":["a"]}           | header[0]: expected a value, received an empty one
  bid        | {"body":["a\nb"]}      | body[0]: expected no line breaks, tabs or other control characters
  bid        | {"body":["a\tb"]}      | body[0]: expected no line breaks, tabs or other control characters
  bid        | {"body":["a\u0000b"]}  | body[0]: expected no line breaks, tabs or other control characters
  bid        | {"body":["a\u2028b"]}  | body[0]: expected no line breaks, tabs or other control characters
  order      | {"buttons":["a\r"]}    | buttons[0]: expected no line breaks, tabs or other control characters
  bid        | {"body":["a     b"]}   | body[0]: expected at most 4 spaces in a row
  bid        | {"body":["a\ud800"]}   | body[0]: expected well-formed text, received half of a surrogate pair
  coupon     | {"buttons":["A-1"]}    | buttons[0]: expected 1 to 20 letters or digits, received "A-1"
  coupon     | {"buttons":["A1\n"]}   | buttons[0]: expected 1 to 20 letters or digits, received "A1\n"
  coupon     | {"buttons":[""]}       | buttons[0]: expected 1 to 20 letters or digits, received ""
  coupon     | {"buttons":["A12345678901234567890"]} | buttons[0]: expected 1 to 20 letters or digits, received "A123
  code       | {}                     | body: expected 1 value, received 0
  code       | {"body":["1111111111111111"]}          | body: expected a code of at most 15 characters, received 16
  code       | {"body":["1"],"buttons":["2"]}         | buttons: expected the same code as in body
  code       | {"body":["1"],"buttons":["1","1"]}     | buttons: expected at most 1 value, received 2
  products   | {"header":["Ana"],"body":["Ana"]}      | products: expected 1 item, received 0
`)('a template of kind %s refuses %s: %s', (name, params, fault) => {
  const found = faultsOf(templateOf(name), { to, ...paramsIn(params) });
  expect(found).toContainEqual(expect.stringContaining(`recipients[0].params.${fault}`));
});

test.each(rows`
  {"Shoes":["p1","p2"]}         |
  {"A":${JSON.stringify(Array(30).fill('p'))}} |
  {"xxxxxxxxxxxxxxxxxxxxxxxx":["p"]}  |
                                | sections: expected 1 to 10 sections, received 0
  ${JSON.stringify(Object.fromEntries([...'ABCDEFGHIJK'].map((each) => [each, ['p']])))} | received 11
  {"A":["p"],"B":${JSON.stringify(Array(30).fill('p'))}} | sections: expected at most 30 products, received 31
  {"A":[]}                      | sections[0].product_items: expected at least 1 item, received 0
  {"xxxxxxxxxxxxxxxxxxxxxxxxx":["p"]} | sections[0].title: expected at most 24 characters, received 25
  {"":["p"]}                    | sections[0].title: expected a value, received an empty one
  {"A":[" "]} | sections[0].product_items[0].product_retailer_id: expected a value, received an empty one
`)('sections of products %s: %s', (sections = '', fault) => {
  const found = faultsOf(sendable.products, { to, params: { ...picks, products: productsOf(sections) } });
  if (fault === '') expect(found).toEqual([]);
  else expect(found).toEqual([expect.stringContaining(`${fault}`)]);
  for (const each of found) expect(each).toMatch(/^recipients\[0\]\.params\.products\[0\]\.action\.sections/);
});

test('a product is one, without sections, and stands where the template has a place for it', () => {
  const one = productsOf('');
  const faultsWith = (template: PlatformTemplate, params: Params) => faultsOf(template, { to, params }).join();
  expect(faultsWith(sendable.product, { products: one })).toBe('');
  expect(faultsWith(sendable.plain, { products: one })).toContain('products: expected 0 items, received 1');
  expect(faultsWith(sendable.catalog, { body: ['a'], products: one })).toContain('expected 0 items, received 1');
  const [list] = productsOf('{"A":["p"]}') ?? [];
  const two = list === undefined ? [] : [list, list];
  expect(faultsWith(sendable.products, { ...picks, products: two })).toContain('products: expected 1 item, received 2');
  expect(faultsWith(sendable.product, { products: productsOf('{"A":["p"]}') })).toBe(
    'recipients[0].params.products[0].action.sections: expected no sections for a single product',
  );
  expect(faultsWith(sendable.product, { products: productsOf('', ' ') })).toContain(
    'products[0].action.thumbnailProductRetailerId: expected a value, received an empty one',
  );
});

const headed = makeTemplate([textHeader('Hi {{1}}'), body('x')]);
const card = (text: string) => ({
  body: ['a'],
  cards: [
    { body: [text], buttons: ['a'] },
    { body: ['b'], buttons: ['b'] },
  ],
});

test.each<[PlatformTemplate, Params, string]>([
  [headed, { header: ['a'.repeat(57)] }, ''],
  [headed, { header: ['a'.repeat(58)] }, 'header: expected at most 60 characters after filling, received 61'],
  [
    makeTemplate([body('{{1}}, {{1}}.')]),
    { body: ['a'.repeat(511)] },
    'body: expected at most 1024 characters after filling, received 1025',
  ],
  [
    sendable.carousel,
    card('a'.repeat(150)),
    'cards[0].body: expected at most 160 characters after filling, received 170',
  ],
  [
    makeTemplate([body('x'), buttons(urlButton)]),
    { buttons: ['ñ'.repeat(330)] },
    'buttons[0]: expected a URL of at most 2000 characters, received 2012',
  ],
])('what is filled has an end (%#)', (template, params, fault) => {
  expect(faultsOf(template, { to, params })).toEqual(fault === '' ? [] : [`recipients[0].params.${fault}`]);
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

const image = { value: 'https://cdn.example.com/a.png', filename: 'a.png' };
const place = { latitude: '-34.6', longitude: '-58.4', name: 'Shop', address: 'Street 1' };

test.each(rows`
  plain      |              |                 |
  textHeader |              |                 |
  product    |              |                 |
  image      | image_url    |                 |
  video      | video_url    |                 |
  document   | document_url |                 |
  location   | location     |                 |
  plain      | image_url    |                 | : expected none for this template, received image_url
  image      |              |                 | : component.header is required: expected image_url, received none
  location   |              |                 | : component.header is required: expected location, received none
  image      | location     |                 | .type: expected image_url, received location
  video      | image_url    |                 | .type: expected video_url, received image_url
  location   | image_url    |                 | .type: expected location, received image_url
  image      | image_url    | {"value":"http://cdn.example.com/a.png"} | .value: must use https
  image      | image_url    | {"value":"https://10.0.0.1/a.png"}       | .value: must name a public host
  image      | image_url    | {"value":"https://u:p@cdn.example.com/"} | .value: must not carry credentials
  image      | image_url    | {"filename":"a\nb"} | .filename: expected no line breaks, tabs or other control characters
  location   | location     | {"name":" "}    | .location.name: expected a value, received an empty one
`)('a template of kind %s with the header %s %s%s', (name, type, json, fault) => {
  const changes = json === '' ? {} : JSON.parse(json ?? '');
  const given = type === 'location' ? { type, location: { ...place, ...changes } } : { type, ...image, ...changes };
  const faults = new FaultList();
  checkHeaderInput(parameterContract(templateOf(name)).header, type === '' ? undefined : given, faults);
  const found = faults.listed().map(({ path, message }) => `${path}: ${message}`);
  expect(found).toEqual(fault === '' ? [] : [`component.header${fault}`]);
});
