import { describe, expect, test } from 'vitest';
import { type TypedTemplate, templateTypes } from '../../../infra/operate/see/template-types/text.ts';
import { neededAtSend } from '../../../lib/messages/request/needed-at-send.ts';
import type { PlatformTemplate } from '../../../lib/templates/model/template.ts';
import { makeTemplate } from '../../support/templates.ts';
import { typeFaults } from '../../support/type-check.ts';

function typed(template: Partial<PlatformTemplate>): TypedTemplate {
  const whole = makeTemplate(template);
  const { parameters, sendable } = neededAtSend(whole);
  if (parameters === undefined || !sendable.can) throw new Error(`${whole.name}: ${sendable.reason}`);
  return { name: whole.name, language: whole.language, parameters };
}

const body = (text: string) => ({ type: 'BODY', text });
const url = { type: 'URL', text: 'Open', url: 'https://example.com/{{1}}' };
const card = (text: string, ...buttons: readonly object[]) => ({
  components: [
    { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://example.com/a.png'] } },
    body(text),
    ...(buttons.length === 0 ? [] : [{ type: 'BUTTONS', buttons }]),
  ],
});

const templates = [
  { components: [body('Hello {{1}}, order {{2}} is on its way.'), { type: 'BUTTONS', buttons: [url] }] },
  { language: 'es', components: [body('Hola {{1}}.')] },
  { name: 'plain', components: [body('We are open.')] },
  { name: 'photo', components: [{ type: 'HEADER', format: 'IMAGE' }, body('Look.')] },
  { name: 'place', components: [{ type: 'HEADER', format: 'LOCATION' }, body('Come, {{1}}.')] },
  { name: 'title', components: [{ type: 'HEADER', format: 'TEXT', text: 'For {{1}}' }, body('Look.')] },
  { name: 'cards', components: [body('Hi'), { type: 'CAROUSEL', cards: [card('One {{1}}', url), card('Two')] }] },
  {
    name: 'shop',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Shop' },
      body('Look'),
      { type: 'BUTTONS', buttons: [{ type: 'MPM', text: 'View' }] },
    ],
  },
  { name: "it's `odd`", components: [body('{{1}} is it.')] },
  // The same name and language exist on two WABAs of the client.
  { name: 'either', components: [body('{{1}} is it.')] },
  { name: 'either', components: [body('{{1}} is {{2}}.')] },
] as unknown as readonly Partial<PlatformTemplate>[];
const types = templateTypes(1001, templates.map(typed));

/** The sends differ in name, language, the recipient's `params`, and other fields. */
function send(name: string, language: string, params: unknown, beside: object = {}): string {
  return JSON.stringify({
    did: '5491100000001',
    type: 'template',
    channel: 'MESSAGING',
    template: { name, language },
    recipients: [{ to: '5491155550001', params }],
    ...beside,
  });
}

const header = (type: string) => ({ component: { header: { type, value: 'https://example.com/a.png' } } });
const location = { latitude: '1', longitude: '2', name: 'Here', address: 'Street 1' };
const product = (action: object) => ({ products: [{ type: 'action', action }] });
const sections = [{ title: 'All', product_items: [{ product_retailer_id: 'P2' }] }];

const right: Readonly<Record<string, string>> = {
  'all its values': send('order_update', 'en_US', { body: ['Ana', 'A-1'], buttons: ['A-1'] }),
  'another language': send('order_update', 'es', { body: ['Ana'] }),
  'nothing variable': send('plain', 'en_US', undefined),
  'what is optional': send('plain', 'en_US', undefined, {
    campaignId: 1,
    client_id: 2,
    attends: { a: 1 },
    message_send_ttl_seconds: 60,
  }),
  'an image': send('photo', 'en_US', undefined, header('image_url')),
  'a place': send('place', 'en_US', { body: ['Ana'] }, { component: { header: { type: 'location', location } } }),
  'a title': send('title', 'en_US', { header: ['Ana'] }),
  'each card': send('cards', 'en_US', { cards: [{ body: ['x'], buttons: ['y'] }, {}] }),
  products: send('shop', 'en_US', product({ thumbnailProductRetailerId: 'P1', sections })),
  'a name with quotes': send("it's `odd`", 'en_US', { body: ['Ana'] }),
  'the one of two WABAs': send('either', 'en_US', { body: ['1'] }),
  'the other of two WABAs': send('either', 'en_US', { body: ['1', '2'] }),
};

const wrong: Readonly<Record<string, string>> = {
  'a name that is none': send('order_updat', 'en_US', { body: ['Ana', 'A-1'], buttons: ['A-1'] }),
  'a language that the name has not': send('plain', 'es', undefined),
  'too few values': send('order_update', 'en_US', { body: ['Ana'], buttons: ['A-1'] }),
  'too many values': send('order_update', 'es', { body: ['Ana', 'A-1'] }),
  'a value that is no text': send('order_update', 'es', { body: [1] }),
  'no button': send('order_update', 'en_US', { body: ['Ana', 'A-1'] }),
  'a button too many': send('order_update', 'es', { body: ['Ana'], buttons: ['A-1'] }),
  'no params': send('order_update', 'es', undefined),
  'params of nothing variable': send('plain', 'en_US', { body: ['Ana'] }),
  'no header': send('photo', 'en_US', undefined),
  'another header': send('photo', 'en_US', undefined, header('video_url')),
  'a header that is not needed': send('plain', 'en_US', undefined, header('image_url')),
  'a place without a name': send(
    'place',
    'en_US',
    { body: ['Ana'] },
    { component: { header: { type: 'location', location: { latitude: '1' } } } },
  ),
  'a title without its value': send('title', 'en_US', { body: ['Ana'] }),
  'a card too few': send('cards', 'en_US', { cards: [{ body: ['x'], buttons: ['y'] }] }),
  'a card with a value too many': send('cards', 'en_US', { cards: [{ body: ['x'], buttons: ['y'] }, { body: ['z'] }] }),
  'products without sections': send('shop', 'en_US', product({ thumbnailProductRetailerId: 'P1' })),
  'neither of two WABAs': send('either', 'en_US', { body: ['1', '2', '3'] }),
  'a field that is none': send('plain', 'en_US', undefined, { campaign_id: 1 }),
};

const fileOf = (kind: string, at: number) => `${kind}-${at}.ts`;
/** Each send stands twice: with a declared type and with an inferred one. */
const programs = (kind: string, sends: Readonly<Record<string, string>>) =>
  Object.values(sends).flatMap((value, at) => [
    [fileOf(kind, at), `import type { Send } from './types.ts';\nexport const send: Send = ${value};\n`],
    [fileOf(`inferred-${kind}`, at), `import { sendOf } from './types.ts';\nexport const send = sendOf(${value});\n`],
  ]);
const own = `import { type RecipientOf, type SendOf, sendOf, type TemplateName } from './types.ts';
const recipients: RecipientOf<'order_update', 'es'>[] = ['Ana', 'Luis'].map((name) => ({ to: '5491155550001', params: { body: [name] } }));
const template = { name: 'order_update', language: 'es' } as const;
export const one: SendOf<'order_update', 'es'> = { did: '1', type: 'template', channel: 'MESSAGING', template, recipients };
export const name: TemplateName = 'photo';
export const inferred: SendOf<'order_update', 'es'> = sendOf({ did: '1', type: 'template', channel: 'MESSAGING', template, recipients });
const body: [string, string] = ['Ana', 'A-1'];
const recipient: RecipientOf<'order_update', 'en_US'> = { to: '5491155550001', params: { body, buttons: ['A-1'] } };
export const made = sendOf({ did: '1', type: 'template', channel: 'MESSAGING', template: { name: 'order_update', language: 'en_US' }, recipients: [recipient] });
`;
const faults = typeFaults({
  'types.ts': types,
  'own.ts': own,
  ...Object.fromEntries([...programs('right', right), ...programs('wrong', wrong)]),
});

describe('a send compiles', () => {
  test.each(Object.keys(right).map((what, at) => [what, at] as const))('with %s', (_what, at) => {
    expect([faults.get(fileOf('right', at)), faults.get(fileOf('inferred-right', at))]).toEqual([undefined, undefined]);
  });

  test('as does a list of recipients that is made of data, and the types by themselves', () => {
    expect([faults.get('own.ts'), faults.get('types.ts')]).toEqual([undefined, undefined]);
  });
});

describe('a send does not compile', () => {
  test.each(Object.keys(wrong).map((what, at) => [what, at] as const))('with %s', (_what, at) => {
    expect(faults.get(fileOf('wrong', at))?.length).toBeGreaterThan(0);
    expect(faults.get(fileOf('inferred-wrong', at))?.length).toBeGreaterThan(0);
  });

  test.each([
    ['too few values', '[string]', 'ValuesOf<"order_update en_US", readonly [string, string]>'],
    ['too many values', '[string, string]', 'ValuesOf<"order_update es", readonly [string]>'],
  ])('with %s, and what is said of it names the template', (what, given, expected) => {
    const file = fileOf('inferred-wrong', Object.keys(wrong).indexOf(what));
    expect(faults.get(file)).toEqual([`error TS2322: Type '${given}' is not assignable to type '${expected}'.`]);
  });
});

test('the text is the same whatever order the templates come in', () => {
  expect(templateTypes(1001, templates.map(typed).reverse())).toBe(types);
});

test('the inferring overload comes before the union of all', () => {
  expect(types.indexOf('export function sendOf')).toBeGreaterThan(0);
  expect(types.indexOf('export type Send =')).toBeGreaterThan(types.indexOf('export function sendOf'));
});

test('a client without templates has no sends', () => {
  expect(typeFaults({ 'types.ts': templateTypes(1, []) })).toEqual(new Map());
});
