import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { parseSendRequest } from '../../../../lib/messages/request/send-request.ts';

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

const { did: _did, ...withoutDid } = good;
const { recipients: _recipients, ...withoutRecipients } = good;

test.each<[string, unknown, string, string]>([
  ['no did', withoutDid, 'did', 'did is required'],
  ['an empty did', { ...good, did: '' }, 'did', 'did is required'],
  ['a did that is a number', { ...good, did: 5491100000001 }, 'did', 'expected a text'],
  ['another type', { ...good, type: 'text' }, 'type', 'expected template, received "text"'],
  ['another channel', { ...good, channel: 'messaging' }, 'channel', 'expected MESSAGING, received "messaging"'],
  ['a template name alone', { ...good, template: 'order_update' }, 'template', 'must be an object'],
  ['a template list', { ...good, template: [] }, 'template', 'must be an object'],
  ['no language', { ...good, template: { name: 'a' } }, 'template.language', 'template.language is required'],
  ['an empty name', { ...good, template: { name: '', language: 'es' } }, 'template.name', 'must not be empty'],
  ['no recipients', withoutRecipients, 'recipients', 'recipients is required'],
  ['an empty list', { ...good, recipients: [] }, 'recipients', 'must have at least 1 item, received 0'],
  ['recipients that are an object', { ...good, recipients: { to } }, 'recipients', 'expected a list'],
  [
    '10,001 recipients',
    { ...good, recipients: Array(10_001).fill({ to }) },
    'recipients',
    'must have at most 10000 items, received 10001',
  ],
  ['a recipient that is text', { ...good, recipients: [to] }, 'recipients[0]', 'must be an object'],
  ['a recipient that is null', { ...good, recipients: [null] }, 'recipients[0]', 'must be an object'],
  ['no to', { ...good, recipients: [{ params: {} }] }, 'recipients[0].to', 'recipients[0].to is required'],
  ['a to that is a number', { ...good, recipients: [{ to: 5491155550001 }] }, 'recipients[0].to', 'expected a text'],
  ['a to of 7 digits', { ...good, recipients: [{ to: '1234567' }] }, 'recipients[0].to', 'user id, received "1234567"'],
  ['a to of 16 digits', { ...good, recipients: [{ to: '1234567890123456' }] }, 'recipients[0].to', 'must be 8 to'],
  ['a to with spaces', { ...good, recipients: [{ to: '549 11 5555' }] }, 'recipients[0].to', 'must be 8 to 15 digits'],
  ['a to with a line end', { ...good, recipients: [{ to: `${to}\n` }] }, 'recipients[0].to', 'must be 8 to 15 digits'],
  [
    'a user id in lower case',
    { ...good, recipients: [{ to: 'us.abc' }] },
    'recipients[0].to',
    'received "us.abc": its letter case is wrong, a user id begins with US.',
  ],
  ['unknown field', { ...good, namespace: 'x' }, 'namespace', 'unrecognized field: namespace'],
  ['client_id spelled wrongly', { ...good, clientId: 1 }, 'clientId', 'unrecognized field: clientId'],
  ['a field inherited by objects', { ...good, toString: 1 }, 'toString', 'unrecognized field: toString'],
  [
    'unknown field of the template',
    { ...good, template: { ...good.template, components: [] } },
    'template.components',
    'unrecognized field: template.components',
  ],
  [
    'unknown field of a recipient',
    { ...good, recipients: [{ to, name: 'x' }] },
    'recipients[0].name',
    'unrecognized field: recipients[0].name',
  ],
  ['unknown field of params', withParams({ footer: [] }), 'recipients[1].params.footer', 'unrecognized field'],
  ['unknown field of a card', withParams({ cards: [{ header: [] }] }), 'recipients[1].params.cards[0].header', 'unrec'],
  ['params that are a list', withParams([]), 'recipients[1].params', 'must be an object'],
  ['params that are null', withParams(null), 'recipients[1].params', 'must be an object'],
  ['body as text', withParams({ body: 'x' }), 'recipients[1].params.body', 'expected a list'],
  ['a number in body', withParams({ body: ['a', 5] }), 'recipients[1].params.body[1]', 'expected a text, received 5'],
  ['a null in buttons', withParams({ buttons: [null] }), 'recipients[1].params.buttons[0]', 'expected a text'],
  [
    'a value of 1 MB',
    withParams({ body: ['x'.repeat(1_000_000)] }),
    'recipients[1].params.body[0]',
    'expected at most 4096 characters, received 1000000',
  ],
  [
    'a million values',
    withParams({ body: Array(1_000_000).fill(1) }),
    'recipients[1].params.body',
    'expected at most 200 items, received 1000000',
  ],
  ['a product as text', withParams({ products: ['p1'] }), 'recipients[1].params.products[0]', 'must be an object'],
  [
    'a product of another type',
    withParams({ products: [{ type: 'product', action: { thumbnailProductRetailerId: 'p' } }] }),
    'recipients[1].params.products[0].type',
    'expected action',
  ],
  [
    'a product without thumbnail',
    withParams({ products: [{ type: 'action', action: {} }] }),
    'recipients[1].params.products[0].action.thumbnailProductRetailerId',
    'is required',
  ],
  [
    'the platform spelling of the thumbnail',
    withParams({ products: [{ type: 'action', action: { thumbnail_product_retailer_id: 'p' } }] }),
    'recipients[1].params.products[0].action.thumbnail_product_retailer_id',
    'unrecognized field',
  ],
  ['a campaign in text', { ...good, campaignId: '10' }, 'campaignId', 'expected a number, received "10"'],
  ['a fraction of a campaign', { ...good, campaignId: 1.5 }, 'campaignId', 'received 1.5'],
  ['an unsafe campaign', { ...good, campaignId: 2 ** 53 }, 'campaignId', 'received 9007199254740992'],
  ['attends as a list', { ...good, attends: [] }, 'attends', 'must be an object'],
  ['attends as text', { ...good, attends: 'now' }, 'attends', 'must be an object'],
  ['attends of 5,000 levels', { ...good, attends: { x: nested(5_000) } }, 'attends', 'at most 4096 bytes'],
  ['huge attends', { ...good, attends: { x: 'y'.repeat(5_000) } }, 'attends', 'at most 4096 bytes'],
  [
    '29 seconds',
    { ...good, message_send_ttl_seconds: 29 },
    'message_send_ttl_seconds',
    'expected at least 30, received 29',
  ],
  [
    'over 30 days',
    { ...good, message_send_ttl_seconds: 2_592_001 },
    'message_send_ttl_seconds',
    'expected at most 2592000',
  ],
  ['-1 seconds', { ...good, message_send_ttl_seconds: -1 }, 'message_send_ttl_seconds', 'expected at least 30'],
  ['half a second', { ...good, message_send_ttl_seconds: 60.5 }, 'message_send_ttl_seconds', 'must be a whole number'],
  ['seconds in text', { ...good, message_send_ttl_seconds: '60' }, 'message_send_ttl_seconds', 'expected a number'],
  ['component as text', { ...good, component: 'x' }, 'component', 'must be an object'],
  ['a body component', { ...good, component: { body: {} } }, 'component.body', 'unrecognized field: component.body'],
  ['a header without type', withHeader({ value: 'https://a.example.com' }), 'component.header.type', 'is required'],
  ['a header that is null', withHeader(null), 'component.header', 'must be an object'],
  ['a header of type image', withHeader({ type: 'image', value: 'x' }), 'component.header.type', 'received "image"'],
  ['an image without value', withHeader({ type: 'image_url' }), 'component.header.value', 'is required'],
  ['a location without place', withHeader({ type: 'location' }), 'component.header.location', 'is required'],
  [
    'a latitude that is a number',
    withHeader({ type: 'location', location: { ...place, latitude: -34.6 } }),
    'component.header.location.latitude',
    'expected a text',
  ],
  [
    'a latitude beyond the pole',
    withHeader({ type: 'location', location: { ...place, latitude: '90.1' } }),
    'component.header.location.latitude',
    'must be between -90 and 90',
  ],
  [
    'a longitude in words',
    withHeader({ type: 'location', location: { ...place, longitude: 'west' } }),
    'component.header.location.longitude',
    'must be decimal degrees as text',
  ],
  [
    'an empty address',
    withHeader({ type: 'location', location: { ...place, address: '' } }),
    'component.header.location.address',
    'must not be empty',
  ],
])('refuses %s', (_what, request, path, message) => {
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
