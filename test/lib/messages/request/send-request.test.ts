import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { parseSendRequest } from '../../../../lib/messages/request/send-request.ts';
import { rows } from '../../../support/rows.ts';

const to = '5491155550001';
const good = {
  did: '5491100000001',
  type: 'template',
  channel: 'MESSAGING',
  template: { name: 'order_update', language: 'en_US' },
  recipients: [{ to }],
};
const withParams = (params: unknown) => ({ ...good, recipients: [{ to }, { to, params }] });
const withHeader = (header: unknown) => ({ ...good, component: { header } });
const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
const place = { latitude: '-34.6', longitude: '-58.4', name: 'Shop', address: 'Street 1' };

function refusalOf(parse: () => unknown): Refusal {
  try {
    parse();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

test('a complete request is read into its parts', () => {
  const header = { type: 'location', location: place };
  const params = {
    header: ['a'],
    body: ['b', 'c'],
    buttons: ['d'],
    products: [
      {
        type: 'action',
        action: {
          thumbnailProductRetailerId: 'p1',
          sections: [{ title: 'T', product_items: [{ product_retailer_id: 'p1' }] }],
        },
      },
    ],
    cards: [{ body: ['e'], buttons: ['f'] }],
  };
  expect(
    parseSendRequest({
      ...good,
      recipients: [{ to: `+${to}`, params }, { to: 'US.ENT.abc123' }],
      campaignId: 10,
      client_id: 1001,
      attends: { waitTime: -1, typification: 7, anything: [1] },
      message_send_ttl_seconds: 2_592_000,
      component: { header },
    }),
  ).toEqual({
    did: good.did,
    template: good.template,
    recipients: [{ to: `+${to}`, params }, { to: 'US.ENT.abc123' }],
    campaignId: 10,
    clientId: 1001,
    attends: { waitTime: -1, typification: 7, anything: [1] },
    ttlSeconds: 2_592_000,
    header,
  });
});

/** Each value stands in a field of the request; a path below that field follows its fault. */
const inFields = rows`
  did          |                       |       | did is required
  did          | ""                    |       | did is required
  did          | 5491100000001         |       | expected a text
  type         | "text"                |       | expected template, received "text"
  channel      | "messaging"           |       | expected MESSAGING, received "messaging"
  template     | "order_update"        |       | must be an object
  template     | []                    |       | must be an object
  template     | {"name":"a"}          | .language | template.language is required
  template     | {"name":"","language":"es"} | .name | must not be empty
  template     | {"name":"a","language":"es","components":[]} | .components | unrecognized field: template.components
  recipients   |                       |       | recipients is required
  recipients   | []                    |       | must have at least 1 item, received 0
  recipients   | {"to":"5491155550001"} |      | expected a list
  recipients   | ["5491155550001"]     | [0]   | must be an object
  recipients   | [null]                | [0]   | must be an object
  recipients   | [{"params":{}}]       | [0].to | recipients[0].to is required
  recipients   | [{"to":5491155550001}] | [0].to | expected a text
  recipients   | [{"to":"1234567"}]    | [0].to | user id, received "1234567"
  recipients   | [{"to":"1234567890123456"}] | [0].to | must be 8 to
  recipients   | [{"to":"549 11 5555"}] | [0].to | must be 8 to 15 digits
  recipients   | [{"to":"5491155550001\n"}] | [0].to | must be 8 to 15 digits
  recipients   | [{"to":"us.abc"}]     | [0].to | "us.abc": its letter case is wrong, a user id begins with US.
  recipients   | [{"to":"5491155550001","name":"x"}] | [0].name | unrecognized field: recipients[0].name
  namespace    | "x"                   |       | unrecognized field: namespace
  clientId     | 1                     |       | unrecognized field: clientId
  toString     | 1                     |       | unrecognized field: toString
  params       | {"footer":[]}         | .footer | unrecognized field
  params       | {"cards":[{"header":[]}]} | .cards[0].header | unrecognized field
  params       | []                    |       | must be an object
  params       | null                  |       | must be an object
  params       | {"body":"x"}          | .body | expected a list
  params       | {"body":["a",5]}      | .body[1] | expected a text, received 5
  params       | {"buttons":[null]}    | .buttons[0] | expected a text
  params       | {"products":["p1"]}   | .products[0] | must be an object
  params       | {"products":[{"type":"product"}]} | .products[0].type | expected action
  params       | {"products":[{"action":{}}]} | .products[0].action.thumbnailProductRetailerId | is required
  params       | {"products":[{"action":{"thumbnail":"p"}}]} | .products[0].action.thumbnail | unrecognized field
  campaignId   | "10"                  |       | expected a number, received "10"
  campaignId   | 1.5                   |       | received 1.5
  campaignId   | 9007199254740992      |       | received 9007199254740992
  attends      | []                    |       | must be an object
  attends      | "now"                 |       | must be an object
  message_send_ttl_seconds | 29        |       | expected at least 30, received 29
  message_send_ttl_seconds | 2592001   |       | expected at most 2592000
  message_send_ttl_seconds | -1        |       | expected at least 30
  message_send_ttl_seconds | 60.5      |       | must be a whole number
  message_send_ttl_seconds | "60"      |       | expected a number
  component    | "x"                   |       | must be an object
  component    | {"body":{}}           | .body | unrecognized field: component.body
  header       | {"value":"https://a.example.com"} | .type | is required
  header       | null                  |       | must be an object
  header       | {"type":"image","value":"x"} | .type | received "image"
  header       | {"type":"image_url"}  | .value | is required
  header       | {"type":"location"}   | .location | is required
  place        | {"latitude":-34.6}    | .latitude | expected a text
  place        | {"latitude":"90.1"}   | .latitude | must be between -90 and 90
  place        | {"longitude":"west"}  | .longitude | must be decimal degrees as text
  place        | {"address":""}        | .address | must not be empty
`.map(([field = '', json = '', below = '', message = '']): [string, string, object, string, string] => {
  const value: unknown = json === '' ? undefined : JSON.parse(json);
  if (field === 'params') return [field, json, withParams(value), `recipients[1].params${below}`, message];
  if (field === 'header') return [field, json, withHeader(value), `component.header${below}`, message];
  if (field !== 'place') return [field, json, { ...good, [field]: value }, `${field}${below}`, message];
  const header = { type: 'location', location: { ...place, ...(value as object) } };
  return [field, json, withHeader(header), `component.header.location${below}`, message];
});
const ofSize: typeof inFields = [
  [
    'recipients',
    '10,001 of them',
    { ...good, recipients: Array(10_001).fill({ to }) },
    'recipients',
    'at most 10000 items',
  ],
  [
    'params',
    'a value of 1 MB',
    withParams({ body: ['x'.repeat(1_000_000)] }),
    'recipients[1].params.body[0]',
    'at most 4096 characters, received 1000000',
  ],
  [
    'params',
    'a million values',
    withParams({ body: Array(1_000_000).fill(1) }),
    'recipients[1].params.body',
    'at most 200 items, received 1000000',
  ],
  ['attends', '5,000 levels', { ...good, attends: { x: nested(5_000) } }, 'attends', 'at most 4096 bytes'],
  ['attends', 'very long', { ...good, attends: { x: 'y'.repeat(5_000) } }, 'attends', 'at most 4096 bytes'],
];

test.each([...inFields, ...ofSize])('refuses as %s: %s', (_field, _value, request, path, message) => {
  const refusal = refusalOf(() => parseSendRequest(request));
  expect([refusal.status, refusal.code]).toEqual([400, 'invalid_request']);
  const fault = refusal.details.errors?.find((each) => each.path === path);
  expect(fault?.message).toContain(message);
  expect(refusal.message.length).toBeLessThan(300);
});

test('names every unknown field of an object, and the first 20 of a body full of them', () => {
  const two = refusalOf(() => parseSendRequest({ ...good, one: 1, two: 2 }));
  expect(two.details.errors?.map((fault) => fault.path)).toEqual(['one', 'two']);
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field${index}`, 1]));
  expect(refusalOf(() => parseSendRequest({ ...good, ...many })).details.errors).toHaveLength(20);
});

test('lists 100 faults and counts the others', () => {
  const recipients = Array.from({ length: 10_000 }, () => ({ to: 1, extra: 2 }));
  const errors = refusalOf(() => parseSendRequest({ ...good, recipients })).details.errors ?? [];
  expect(errors).toHaveLength(101);
  expect(errors.at(-1)).toEqual({ path: '', message: '19900 more faults are not listed' });
});

test('whatever JSON comes, it is read or refused with 400', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...Object.keys(good), 'attends', 'component'), (value, field) => {
      try {
        expect(parseSendRequest({ ...good, [field]: value }).did).toBe(field === 'did' ? value : good.did);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        expect(error.status).toBe(400);
      }
    }),
  );
});
