import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { api, type DemoUser, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { runningTarget } from '../support/running-target.ts';

const did = '5491100000001';
let next = 5491150000000 + (Date.now() % 1_000_000) * 10;
const newRecipient = () => String(++next);

beforeAll(async () => {
  await synchronize('supervisor1001');
  await synchronize('supervisor1002');
});

const madeUp: { readonly name: string; readonly id: string }[] = [];

afterAll(async () => {
  for (const { name, id } of madeUp) {
    await platform(`DELETE /_control/templates/${id}`);
    await eraseTemplate(runningTarget(), name);
  }
});

interface Send {
  readonly template?: unknown;
  readonly recipients?: unknown;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly user?: DemoUser;
  readonly path?: string;
  readonly did?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(what: Send = {}) {
  const { template = orderUpdate, recipients = [{ to: newRecipient(), params: orderParams }], extra, headers } = what;
  return api(`POST /v1/template/messages/${what.path ?? what.did ?? did}`, {
    token: await tokenOf(what.user ?? 'supervisor1001'),
    body: { did: what.did ?? did, type: 'template', channel: 'MESSAGING', template, recipients, ...extra },
    ...(headers === undefined ? {} : { headers }),
  });
}

const orderUpdate = { name: 'order_update', language: 'en_US' };
const orderParams = { body: ['Ana', 'A-1'], buttons: ['A-1'] };

/** The one message that reached the platform for a recipient. */
async function delivered(to: string) {
  const { data } = await eventually(`a message to ${to}`, async () => {
    const { body } = await platform(`GET /_control/messages?to=${to}`);
    return body.total > 0 ? body : undefined;
  });
  expect(data).toHaveLength(1);
  return data[0];
}

/** The same, and none came after it: a message that was accepted later has reached the platform by then. */
async function deliveredOnce(to: string) {
  const later = newRecipient();
  expect(await send({ recipients: [{ to: later, params: orderParams }] })).toMatchObject({ status: 200 });
  await delivered(later);
  return delivered(to);
}

describe('every kind of approved template reaches the platform as it must', () => {
  test.each([
    {
      name: 'order_update',
      language: 'en_US',
      params: orderParams,
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Ana' },
            { type: 'text', text: 'A-1' },
          ],
        },
        { type: 'button', sub_type: 'url', index: 0, parameters: [{ type: 'text', text: 'A-1' }] },
      ],
    },
    {
      name: 'welcome_offer',
      language: 'es',
      params: { body: ['Ana'] },
      component: { header: { type: 'image_url', value: 'https://cdn.example.com/a.png', filename: 'a.png' } },
      components: [
        { type: 'header', parameters: [{ type: 'image', image: { link: 'https://cdn.example.com/a.png' } }] },
        { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] },
      ],
    },
    {
      name: 'store_visit',
      language: 'en_US',
      params: { body: ['Ana'] },
      component: {
        header: {
          type: 'location',
          location: { latitude: '-34.6', longitude: '-58.4', name: 'Shop', address: 'Main 1' },
        },
      },
      components: [
        {
          type: 'header',
          parameters: [
            { type: 'location', location: { latitude: '-34.6', longitude: '-58.4', name: 'Shop', address: 'Main 1' } },
          ],
        },
        { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] },
      ],
    },
    {
      name: 'coupon_drop',
      language: 'en_US',
      params: { buttons: ['SAVE20'] },
      components: [
        {
          type: 'button',
          sub_type: 'copy_code',
          index: 0,
          parameters: [{ type: 'coupon_code', coupon_code: 'SAVE20' }],
        },
      ],
    },
    {
      name: 'spring_picks',
      language: 'en_US',
      params: {
        header: ['Spring'],
        body: ['Ana'],
        products: [
          {
            type: 'action',
            action: {
              thumbnailProductRetailerId: 'sku-1',
              sections: [
                { title: 'New', product_items: [{ product_retailer_id: 'sku-1' }, { product_retailer_id: 'sku-2' }] },
              ],
            },
          },
        ],
      },
      components: [
        { type: 'header', parameters: [{ type: 'text', text: 'Spring' }] },
        { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] },
        {
          type: 'button',
          sub_type: 'mpm',
          index: 0,
          parameters: [
            {
              type: 'action',
              action: {
                thumbnail_product_retailer_id: 'sku-1',
                sections: [
                  { title: 'New', product_items: [{ product_retailer_id: 'sku-1' }, { product_retailer_id: 'sku-2' }] },
                ],
              },
            },
          ],
        },
      ],
    },
  ])('$name', async ({ name, language, params, component, components }) => {
    const to = newRecipient();
    const reply = await send({
      template: { name, language },
      recipients: [{ to, params }],
      extra: component === undefined ? {} : { component },
    });
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    const message = await delivered(to);
    expect(message).toMatchObject({ to, phone_number_id: '300000000000001' });
    expect(message.request).toMatchObject({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to,
      type: 'template',
      template: { name, language: { code: language }, components },
    });
    expect(message.request.biz_opaque_callback_data).toBe(`${reply.headers.get('dispatch-id')}-0`);
  });

  test('login_code: the code fills body and button', async () => {
    const to = newRecipient();
    await send({
      template: { name: 'login_code', language: 'en_US' },
      recipients: [{ to, params: { body: ['123456'] } }],
    }).then((reply) => expect(reply.status).toBe(200));
    expect((await delivered(to)).request.template.components).toEqual([
      { type: 'body', parameters: [{ type: 'text', text: '123456' }] },
      { type: 'button', sub_type: 'url', index: 0, parameters: [{ type: 'text', text: '123456' }] },
    ]);
  });

  test('single_pick: the product header carries the catalog of the WABA', async () => {
    const to = newRecipient();
    const products = [{ type: 'action', action: { thumbnailProductRetailerId: 'sku-9' } }];
    expect(
      await send({ template: { name: 'single_pick', language: 'en_US' }, recipients: [{ to, params: { products } }] }),
    ).toMatchObject({ status: 200 });
    const header = (await delivered(to)).request.template.components[0];
    expect(header).toMatchObject({
      type: 'header',
      parameters: [
        { type: 'product', product: { product_retailer_id: 'sku-9', catalog_id: expect.stringMatching(/^\d+$/) } },
      ],
    });
  });

  test('bid_offer goes to the marketing edge, the others do not (D30)', async () => {
    const [bid, plain] = [newRecipient(), newRecipient()];
    expect(await send({ template: { name: 'bid_offer', language: 'en_US' }, recipients: [{ to: bid }] })).toMatchObject(
      { status: 200 },
    );
    expect(await send({ recipients: [{ to: plain, params: orderParams }] })).toMatchObject({ status: 200 });
    expect((await delivered(bid)).path).toContain('/marketing_messages');
    expect((await delivered(plain)).path).not.toContain('marketing');
  });
});

/** Puts a template onto the first WABA of the platform behind the service's back; returns its name and platform id. */
async function addTemplate(fields: Readonly<Record<string, unknown>>) {
  const name = `made_up_${++next}`;
  const template = {
    name,
    language: 'en_US',
    category: 'MARKETING',
    components: [{ type: 'BODY', text: 'x' }],
    ...fields,
  };
  const { body } = await platform('POST /_control/templates', { waba_id: '200000000000001', templates: [template] });
  const id = String(body.ids[0]);
  madeUp.push({ name, id });
  return { template: { name, language: 'en_US' }, id };
}

/** How often the platform was asked about a name since the last reset. */
async function asked(name: string): Promise<number> {
  const { body } = await platform('GET /_control/requests?method=GET&path=/message_templates&limit=1000000');
  return body.data.filter(({ query }: { query: { name?: string } }) => query.name === name).length;
}

describe('a refusal never rests on a stored copy (D23)', () => {
  test('refused while PENDING, sent once the platform has approved, with no synchronization in between', async () => {
    const { template, id } = await addTemplate({ status: 'PENDING' });
    const recipients = [{ to: newRecipient() }];
    expect(await send({ template, recipients })).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/PENDING/) },
    });
    expect((await send({ template, recipients })).status).toBe(422);
    expect(await asked(template.name)).toBe(1);
    await platform(`POST /_control/templates/${id}`, { status: 'APPROVED' });
    const reply = await eventually('the template can be sent', async () => {
      const { status } = await send({ template, recipients });
      return status === 422 ? undefined : status;
    });
    expect(reply).toBe(200);
    expect(await asked(template.name)).toBe(2);
  });

  test('a name that does not exist costs the platform one question, and a known one tells its languages', async () => {
    const template = { name: `no_such_${++next}`, language: 'en_US' };
    const replies = await Promise.all(Array.from({ length: 10 }, () => send({ template })));
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(404));
    expect(await asked(template.name)).toBe(1);
    const { body } = await send({ template: { name: 'order_update', language: 'fr' } });
    expect(body.message).toBe('no template for the requested name/language; order_update exists in en_US');
  });
});

test('a flow button is named in the message, without parameters; an unknown kind is refused by name (D23)', async () => {
  const quickReply = { type: 'QUICK_REPLY', text: 'Stop' };
  const buttons = (...list: unknown[]) => [
    { type: 'BODY', text: 'x' },
    { type: 'BUTTONS', buttons: list },
  ];
  const flow = await addTemplate({ components: buttons(quickReply, { type: 'FLOW', text: 'Book', flow_id: '1' }) });
  const to = newRecipient();
  expect(await send({ template: flow.template, recipients: [{ to }] })).toMatchObject({ status: 200 });
  expect((await delivered(to)).request.template.components).toEqual([{ type: 'button', sub_type: 'flow', index: 1 }]);
  const unknown = await addTemplate({ components: buttons({ type: 'APP', text: 'Open' }) });
  expect(await send({ template: unknown.template, recipients: [{ to: newRecipient() }] })).toMatchObject({
    status: 422,
    body: { code: 'template_not_sendable', message: expect.stringContaining('button of type APP (buttons[0])') },
  });
});

test('URL button values arrive as given, but for what a URL cannot contain (D37)', async () => {
  const to = newRecipient();
  const params = { body: ['Ana', 'A-1'], buttons: ['orders/A-1?x=1&n=Ñ%20#top'] };
  expect(await send({ recipients: [{ to, params }] })).toMatchObject({ status: 200 });
  const [, button] = (await delivered(to)).request.template.components;
  expect(button.parameters).toEqual([{ type: 'text', text: 'orders/A-1?x=1&n=%C3%91%20#top' }]);
});

test('a template with a time to live of its own goes to /marketing_messages (D30)', async () => {
  const { template } = await addTemplate({ message_send_ttl_seconds: 43_200 });
  const to = newRecipient();
  expect(await send({ template, recipients: [{ to }] })).toMatchObject({ status: 200 });
  expect((await delivered(to)).path).toContain('/marketing_messages');
});

test('a did that is a channel of another client of the WABA is named in the warning (D5, D26)', async () => {
  const [to, foreign] = [newRecipient(), '5491100000002'];
  expect(await send({ did: foreign, recipients: [{ to, params: orderParams }] })).toMatchObject({
    status: 200,
    body: { success: true, warning: 'the did 5491100000002 is a channel of another client of the WABA' },
  });
  expect((await delivered(to)).phone_number_id).toBe('300000000000002');
});

describe('refusals of POST /v1/template/messages/{did}', () => {
  const cases: [string, Send, number, string | RegExp][] = [
    ['did missing in the body', { extra: { did: undefined } }, 400, 'did is required'],
    ['did empty in the body', { extra: { did: '' } }, 400, 'did is required'],
    ['did blank in the body', { extra: { did: ' \t ' } }, 400, 'did is required'],
    ['path and body did differ', { path: '5491100000002' }, 422, /did/],
    [
      'another client without BSP_CN',
      { extra: { client_id: 1002 } },
      403,
      'BSP_CN permission required for cross-client access',
    ],
    ['client_id as text', { extra: { client_id: '1001' } }, 400, 'invalid client_id: 1001'],
    ['a DID of another client', { did: '5511900000003' }, 403, /did/],
    ['a DID nobody has', { did: '5499999999999' }, 403, /did/],
    ['no such name', { template: { name: 'nothing', language: 'en_US' } }, 404, /template/],
    ['a language that is none', { template: { name: 'order_update', language: 'English!' } }, 404, /template/],
    ['no such language', { template: { name: 'order_update', language: 'pt_BR' } }, 404, /template/],
    ['a pending template', { template: { name: 'summer_sale', language: 'es' } }, 422, /PENDING/],
    ['a disabled template', { template: { name: 'old_notice', language: 'en_US' } }, 422, /DISABLED/],
    ['a rejected template', { template: { name: 'spring_rejected', language: 'es' } }, 422, /REJECTED/],
    ['a paused template', { template: { name: 'paused_promo', language: 'es' } }, 422, /PAUSED/],
    ['named parameters', { template: { name: 'named_params', language: 'en_US' } }, 422, /named/i],
  ];
  test.each(cases)('%s', async (_, what, status, message) => {
    const reply = await send(what);
    expect(reply.status).toBe(status);
    expect(reply.body).toEqual({
      message: typeof message === 'string' ? message : expect.stringMatching(message),
      code: expect.any(String),
      ...(reply.body.errors ? { errors: expect.any(Array) } : {}),
    });
  });

  test('the same 403 for an unknown and a foreign DID (D5)', async () => {
    const [unknown, foreign] = [await send({ did: '5499999999999' }), await send({ did: '5511900000003' })];
    expect(unknown.text).toBe(foreign.text);
  });
});

const bad = {
  recipients: (value: unknown): Send => ({ recipients: value }),
  params: (params: unknown, to: unknown = '5491155550001'): Send => ({ recipients: [{ to, params }] }),
  body: (extra: Record<string, unknown>): Send => ({ extra }),
};

describe('bad input names the field and queues nothing', () => {
  const long = 'x'.repeat(1_000_000);
  const image = { header: { type: 'image_url', value: 'https://cdn.example.com/a.png', filename: 'a.png' } };
  const welcome = { name: 'welcome_offer', language: 'es' };
  const location = (value: unknown) => ({ component: { header: { type: 'location', location: value } } });
  const store = { name: 'store_visit', language: 'en_US' };
  const cases: [string, Send, string][] = [
    ['no recipients', { extra: { recipients: undefined } }, 'recipients'],
    ['empty recipients', bad.recipients([]), 'recipients'],
    ['recipients as an object', bad.recipients({}), 'recipients'],
    [
      '10,001 recipients',
      bad.recipients(Array.from({ length: 10_001 }, (_, i) => ({ to: `54911${10_000_000 + i}`, params: orderParams }))),
      'recipients',
    ],
    ['recipient as text', bad.recipients(['5491155550001']), 'recipients[0]'],
    ['recipient without to', bad.recipients([{ params: orderParams }]), 'recipients[0].to'],
    ['to as a number', bad.recipients([{ to: 5491155550001, params: orderParams }]), 'recipients[0].to'],
    ['to empty', bad.params(orderParams, ''), 'recipients[0].to'],
    ['to too short', bad.params(orderParams, '1234567'), 'recipients[0].to'],
    ['to too long', bad.params(orderParams, '1234567890123456'), 'recipients[0].to'],
    ['to with letters', bad.params(orderParams, '54911x5550001'), 'recipients[0].to'],
    ['to with spaces', bad.params(orderParams, '54 911 5555 0001'), 'recipients[0].to'],
    ['to of a megabyte', bad.params(orderParams, long), 'recipients[0].to'],
    [
      'unknown field in a recipient',
      bad.recipients([{ to: '5491155550001', params: orderParams, name: 'Ana' }]),
      'recipients[0].name',
    ],
    ['params missing', bad.params(undefined), 'recipients[0].params.body'],
    ['params null', bad.params(null), 'recipients[0].params'],
    ['params as an array', bad.params([]), 'recipients[0].params'],
    ['unknown field in params', bad.params({ ...orderParams, footer: ['x'] }), 'recipients[0].params.footer'],
    ['one body value too few', bad.params({ body: ['Ana'], buttons: ['A'] }), 'recipients[0].params.body'],
    ['one body value too many', bad.params({ body: ['a', 'b', 'c'], buttons: ['A'] }), 'recipients[0].params.body'],
    ['body values as text', bad.params({ body: 'Ana', buttons: ['A'] }), 'recipients[0].params.body'],
    ['a body value as a number', bad.params({ body: ['Ana', 5], buttons: ['A'] }), 'recipients[0].params.body[1]'],
    ['a body value null', bad.params({ body: ['Ana', null], buttons: ['A'] }), 'recipients[0].params.body[1]'],
    ['an empty body value', bad.params({ body: ['Ana', ''], buttons: ['A'] }), 'recipients[0].params.body[1]'],
    ['a body value of blanks', bad.params({ body: ['Ana', '   '], buttons: ['A'] }), 'recipients[0].params.body[1]'],
    [
      'a line break in a body value',
      bad.params({ body: ['Ana', 'a\nb'], buttons: ['A'] }),
      'recipients[0].params.body[1]',
    ],
    ['a tab in a body value', bad.params({ body: ['Ana', 'a\tb'], buttons: ['A'] }), 'recipients[0].params.body[1]'],
    [
      'five spaces in a body value',
      bad.params({ body: ['Ana', 'a     b'], buttons: ['A'] }),
      'recipients[0].params.body[1]',
    ],
    [
      'a control character in a body value',
      bad.params({ body: ['Ana', 'a\u0000b'], buttons: ['A'] }),
      'recipients[0].params.body[1]',
    ],
    ['a body value of a megabyte', bad.params({ body: ['Ana', long], buttons: ['A'] }), 'recipients[0].params.body'],
    [
      'a body too long once filled',
      bad.params({ body: ['Ana', 'x'.repeat(1_024)], buttons: ['A'] }),
      'recipients[0].params.body',
    ],
    ['no button value', bad.params({ body: ['a', 'b'] }), 'recipients[0].params.buttons'],
    ['two button values', bad.params({ body: ['a', 'b'], buttons: ['a', 'b'] }), 'recipients[0].params.buttons'],
    ['an empty button value', bad.params({ body: ['a', 'b'], buttons: [''] }), 'recipients[0].params.buttons[0]'],
    [
      'a header value where the template has none',
      bad.params({ ...orderParams, header: ['x'] }),
      'recipients[0].params.header',
    ],
    [
      'products on a plain template',
      bad.params({ ...orderParams, products: [{ type: 'action', action: { thumbnailProductRetailerId: 'x' } }] }),
      'recipients[0].params.products',
    ],
    [
      'cards on a plain template',
      bad.params({ ...orderParams, cards: [{ body: ['x'] }] }),
      'recipients[0].params.cards',
    ],
    [
      'a fault in the second recipient only',
      bad.recipients([
        { to: '5491155550001', params: orderParams },
        { to: '5491155550002', params: { body: ['a'], buttons: ['b'] } },
      ]),
      'recipients[1].params.body',
    ],
    [
      'a media header missing',
      { template: welcome, recipients: [{ to: '5491155550001', params: { body: ['a'] } }] },
      'component.header',
    ],
    [
      'a media header of another type',
      {
        template: welcome,
        recipients: [{ to: '5491155550001', params: { body: ['a'] } }],
        extra: { component: { header: { type: 'video_url', value: 'https://cdn.example.com/a.mp4', filename: 'a' } } },
      },
      'component.header',
    ],
    [
      'a media header over http',
      {
        template: welcome,
        recipients: [{ to: '5491155550001', params: { body: ['a'] } }],
        extra: { component: { header: { type: 'image_url', value: 'http://cdn.example.com/a.png', filename: 'a' } } },
      },
      'component.header.value',
    ],
    [
      'a media header without a value',
      {
        template: welcome,
        recipients: [{ to: '5491155550001', params: { body: ['a'] } }],
        extra: { component: { header: { type: 'image_url' } } },
      },
      'component.header.value',
    ],
    ['a media header where the template has none', { extra: { component: image } }, 'component.header'],
    [
      'a header of an unknown type',
      { extra: { component: { header: { type: 'audio_url', value: 'https://cdn.example.com/a.mp3' } } } },
      'component.header.type',
    ],
    [
      'a location missing',
      { template: store, recipients: [{ to: '5491155550001', params: { body: ['a'] } }] },
      'component.header',
    ],
    [
      'a location without latitude',
      {
        template: store,
        recipients: [{ to: '5491155550001', params: { body: ['a'] } }],
        extra: location({ longitude: '1', name: 'n', address: 'a' }),
      },
      'component.header.location.latitude',
    ],
    [
      'a latitude as a number',
      {
        template: store,
        recipients: [{ to: '5491155550001', params: { body: ['a'] } }],
        extra: location({ latitude: 1, longitude: '1', name: 'n', address: 'a' }),
      },
      'component.header.location.latitude',
    ],
    [
      'a latitude out of range',
      {
        template: store,
        recipients: [{ to: '5491155550001', params: { body: ['a'] } }],
        extra: location({ latitude: '91', longitude: '1', name: 'n', address: 'a' }),
      },
      'component.header.location.latitude',
    ],
    ['unknown field', bad.body({ namespace: 'x' }), 'namespace'],
    ['components in the payload', bad.body({ components: [] }), 'components'],
    ['type of another value', bad.body({ type: 'text' }), 'type'],
    ['type missing', bad.body({ type: undefined }), 'type'],
    ['channel of another value', bad.body({ channel: 'SMS' }), 'channel'],
    ['template missing', bad.body({ template: undefined }), 'template'],
    ['template as text', { template: 'order_update' }, 'template'],
    ['template without a name', { template: { language: 'en_US' } }, 'template.name'],
    ['template without a language', { template: { name: 'order_update' } }, 'template.language'],
    ['unknown field in template', { template: { ...orderUpdate, components: [] } }, 'template.components'],
    ['a template name of a megabyte', { template: { name: long, language: 'en_US' } }, 'template.name'],
    ['campaignId as text', bad.body({ campaignId: '10' }), 'campaignId'],
    ['campaign_id is not campaignId', bad.body({ campaign_id: 10 }), 'campaign_id'],
    ['attends as text', bad.body({ attends: 'now' }), 'attends'],
    ['attends as an array', bad.body({ attends: [] }), 'attends'],
    ['ttl too short', bad.body({ message_send_ttl_seconds: 29 }), 'message_send_ttl_seconds'],
    ['ttl too long', bad.body({ message_send_ttl_seconds: 2_592_001 }), 'message_send_ttl_seconds'],
    ['ttl as text', bad.body({ message_send_ttl_seconds: '60' }), 'message_send_ttl_seconds'],
    ['ttl not whole', bad.body({ message_send_ttl_seconds: 60.5 }), 'message_send_ttl_seconds'],
    ['an empty Idempotency-Key', { headers: { 'idempotency-key': ' ' } }, 'idempotency-key'],
    ['an Idempotency-Key of 256 characters', { headers: { 'idempotency-key': 'k'.repeat(256) } }, 'idempotency-key'],
  ];
  test.each(cases)('%s', async (_, what, path) => {
    const before = (await platform('GET /_control/messages?limit=1')).body.total;
    const reply = await send(what);
    expect(reply.status).toBe(400);
    expect(reply.body.message).toEqual(expect.any(String));
    expect((reply.body.errors ?? []).map((fault: { path: string }) => fault.path.toLowerCase())).toEqual(
      expect.arrayContaining([expect.stringContaining(path.toLowerCase())]),
    );
    expect((await platform('GET /_control/messages?limit=1')).body.total).toBe(before);
  });

  test.each(['', '{', 'null', '[]', '"x"'])('the body %j is 400', async (body) => {
    const reply = await api(`POST /v1/template/messages/${did}`, { token: await tokenOf('supervisor1001'), body });
    expect(reply).toMatchObject({ status: 400, body: { code: 'malformed_body' } });
  });
});

describe('warnings (D26)', () => {
  test('duplicates are sent once and named', async () => {
    const to = newRecipient();
    const reply = await send({
      recipients: [
        { to, params: orderParams },
        { to: `+${to}`, params: orderParams },
      ],
    });
    expect(reply.body).toEqual({ success: true, warning: expect.stringMatching(/duplicate/i) });
    await deliveredOnce(to);
  });

  test('a language in another spelling is accepted and named', async () => {
    const reply = await send({ template: { name: 'order_update', language: 'en-us' } });
    expect(reply.body).toEqual({ success: true, warning: expect.stringContaining('en_US') });
  });

  test('a campaign the template is not assigned to is named', async () => {
    const reply = await send({ extra: { campaignId: 10 } });
    expect(reply.body).toEqual({ success: true, warning: expect.stringMatching(/campaign/i) });
  });
});

describe('Idempotency-Key (D9)', () => {
  const keyed = (key: string, to: string) =>
    send({ recipients: [{ to, params: orderParams }], headers: { 'idempotency-key': key } });

  test('the same request twice answers the same and sends once', async () => {
    const [key, to] = [`k-${next}`, newRecipient()];
    const [first, second] = [await keyed(key, to), await keyed(key, to)];
    expect(first).toMatchObject({ status: 200, text: '{"success":true}' });
    expect(second).toMatchObject({ status: 200, text: first.text });
    expect(second.headers.get('dispatch-id')).toBe(first.headers.get('dispatch-id'));
    await deliveredOnce(to);
  });

  test('the same key with another body is 422', async () => {
    const key = `k-${next}`;
    expect(await keyed(key, newRecipient())).toMatchObject({ status: 200 });
    expect(await keyed(key, newRecipient())).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
  });

  test('twenty at once send once: each is answered 200 or 409', async () => {
    const [key, to] = [`k-${next}`, newRecipient()];
    const replies = await Promise.all(Array.from({ length: 20 }, () => keyed(key, to)));
    expect(replies.filter((reply) => reply.status === 200).length).toBeGreaterThan(0);
    expect([...new Set(replies.map((reply) => reply.status))].every((status) => [200, 409].includes(status))).toBe(
      true,
    );
    await deliveredOnce(to);
    expect((await keyed(key, to)).status).toBe(200);
  });

  test('a refused request is not remembered', async () => {
    const [key, to] = [`k-${next}`, newRecipient()];
    const headers = { 'idempotency-key': key };
    expect(await send({ recipients: [{ to, params: {} }], headers })).toMatchObject({ status: 400 });
    expect(await keyed(key, to)).toMatchObject({ status: 200 });
  });
});
