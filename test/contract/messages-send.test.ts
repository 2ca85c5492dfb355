import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { lookupKey } from '../../lib/messages/dispatch/items.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import { api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { orderParams } from '../support/order-updates.ts';
import { runningTarget } from '../support/running-target.ts';
import {
  asked,
  delivered,
  deliveredOnce,
  newRecipient,
  platformTemplatesOfFile,
  type Send,
  send,
  unique,
} from '../support/template-sends.ts';

const { documentClient, tableName } = runningTarget();
const addTemplate = platformTemplatesOfFile();

beforeAll(async () => {
  await synchronize('supervisor1001');
  await synchronize('supervisor1002');
});

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
    // Deleting the question ends the ten seconds in which the platform is not asked again.
    const Key = lookupKey(templateKey({ wabaId: '200000000000001', ...template }));
    await documentClient.send(new DeleteCommand({ TableName: tableName('messages'), Key }));
    expect((await send({ template, recipients })).status).toBe(200);
    expect(await asked(template.name)).toBe(2);
  });

  test('a name that does not exist costs the platform one question, and a known one tells its languages', async () => {
    const template = { name: unique('no_such_'), language: 'en_US' };
    for (let time = 0; time < 2; time += 1) expect((await send({ template })).status).toBe(404);
    expect(await asked(template.name)).toBe(1);
    const { body } = await send({ template: { name: 'order_update', language: 'fr' } });
    expect(body.message).toBe('no template for the requested name/language; order_update exists in en_US');
  });
});

test('switched off: 422 names each step, rehearsed or not, and the steps switch it on (D23)', async () => {
  const { template } = await addTemplate({});
  const what = { template, recipients: [{ to: newRecipient() }] };
  expect(await send(what)).toMatchObject({ status: 200 });
  const call = async (route: string, body?: unknown) => api(route, { token: await tokenOf('supervisor1001'), body });
  const { id } = (await call(`GET /v1/templates?campaign_name=Unassigned&name=${template.name}`)).body.data[0];
  const switched = (action: string) => call('PATCH /v1/templates/status', { action, templates: [id] });
  const told = async () => {
    const replies = [await send(what), await send({ ...what, headers: { 'Dry-Run': 'true' } })];
    const { sendable } = (await call(`GET /v1/templates/${id}`)).body;
    expect(replies.map(({ status, body }) => [status, body.code])).toEqual(
      replies.map(() => [422, 'template_not_sendable']),
    );
    expect(new Set([...replies.map(({ body }) => body.message), sendable.reason]).size).toBe(1);
    return sendable.reason;
  };
  await switched('disable');
  expect(await told()).toContain(`(POST /v1/templates/${id}/channel-campaigns), then enable it`);
  const channel_campaigns = [{ channel_id: 501, campaign_id: 10 }];
  await call(`POST /v1/templates/${id}/channel-campaigns`, { channel_campaigns });
  expect(await told()).not.toContain('channel-campaigns');
  await switched('enable');
  expect(await send(what)).toMatchObject({ status: 200, body: { success: true } });
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
    ['did blank in the body', { extra: { did: ' \t ' } }, 400, 'did is required'],
    ['path and body did differ', { path: '5491100000002' }, 422, /did/],
    ['client_id as text', { extra: { client_id: '1001' } }, 400, 'invalid client_id: 1001'],
    ['no such name', { template: { name: 'nothing', language: 'en_US' } }, 404, /template/],
    ['a disabled template', { template: { name: 'old_notice', language: 'en_US' } }, 422, /DISABLED/],
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

/*
 * The single rules are in test/lib/messages/request/{send-request,recipient-rules}.test.ts and
 * test/lib/http/request-headers.test.ts.
 */
describe('bad input names the field and queues nothing', () => {
  const to = '5491155550001';
  const image = { header: { type: 'image_url', value: 'http://cdn.example.com/a.png', filename: 'a.png' } };
  const coupon = { name: 'coupon_drop', language: 'en_US' };
  const params = { body: ['482913'] };
  const toScopedUser = {
    template: { name: 'login_code', language: 'en_US' },
    recipients: ['5491155550001', 'US.13491208655302741918'].map((each) => ({ to: each, params })),
  };
  const cases: [string, Send, string][] = [
    ['no recipients', { extra: { recipients: undefined } }, 'recipients'],
    ['a to that is none', { recipients: [{ to: '54 911', params: orderParams }] }, 'recipients[0].to'],
    ['a value of a megabyte', { recipients: [{ to, params: { body: ['x'.repeat(1_000_000)] } }] }, 'params.body'],
    [
      'a fault in the second recipient only',
      {
        recipients: [
          { to, params: orderParams },
          { to: '5491155550002', params: { body: ['a'], buttons: ['b'] } },
        ],
      },
      'recipients[1].params.body',
    ],
    [
      'a media header over http',
      {
        template: { name: 'welcome_offer', language: 'es' },
        recipients: [{ to, params: { body: ['a'] } }],
        extra: { component: image },
      },
      'component.header.value',
    ],
    ['a media header where the template has none', { extra: { component: image } }, 'component.header'],
    ['a coupon of 21', { template: coupon, recipients: [{ to, params: { buttons: ['S'.repeat(21)] } }] }, 'buttons[0]'],
    ['a code to a business-scoped user id', toScopedUser, 'recipients[1].to'],
    ['the same in a rehearsal', { ...toScopedUser, headers: { 'dry-run': 'true' } }, 'recipients[1].to'],
    ['components in the payload', { extra: { components: [] } }, 'components'],
    ['an Idempotency-Key of blanks', { headers: { 'idempotency-key': ' ' } }, 'idempotency-key'],
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
});

describe('warnings (D26)', () => {
  test('duplicates are sent once and named', async () => {
    const to = newRecipient();
    const spelled = [to, `+${to}`, to.replace(/^549/, '54')];
    expect(new Set(spelled).size).toBe(3);
    const reply = await send({ recipients: spelled.map((each) => ({ to: each, params: orderParams })) });
    const warning = 'duplicate recipients were dropped: recipients[1], recipients[2]';
    expect(reply.body).toEqual({ success: true, warning });
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
    const [key, to] = [unique('k-'), newRecipient()];
    const [first, second] = [await keyed(key, to), await keyed(key, to)];
    expect(first).toMatchObject({ status: 200, text: '{"success":true}' });
    expect(second).toMatchObject({ status: 200, text: first.text });
    expect(second.headers.get('dispatch-id')).toBe(first.headers.get('dispatch-id'));
    await deliveredOnce(to);
  });

  test('the same key with another body is 422', async () => {
    const key = unique('k-');
    expect(await keyed(key, newRecipient())).toMatchObject({ status: 200 });
    expect(await keyed(key, newRecipient())).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
  });

  test('while the first is under way the second is 409', async () => {
    const template = { name: unique('slow_'), language: 'en_US' };
    const what = { template, recipients: [{ to: newRecipient() }], headers: { 'idempotency-key': unique('k-') } };
    const slow = { match: { path: 'message_templates' }, action: { delay_ms: 4_000 }, times: 1 };
    await platform('POST /_control/faults', slow);
    const first = send(what);
    await eventually('the platform is asked', async () => ((await asked(template.name)) > 0 ? true : undefined));
    expect(await send(what)).toMatchObject({ status: 409, body: { code: 'request_in_progress' } });
    expect(await first).toMatchObject({ status: 404 });
  });

  test('five at once send once: each is answered 200 or 409', async () => {
    const [key, to] = [unique('k-'), newRecipient()];
    const replies = await Promise.all(Array.from({ length: 5 }, () => keyed(key, to)));
    expect(replies.filter((reply) => reply.status === 200).length).toBeGreaterThan(0);
    expect([...new Set(replies.map((reply) => reply.status))].every((status) => [200, 409].includes(status))).toBe(
      true,
    );
    await deliveredOnce(to);
    expect((await keyed(key, to)).status).toBe(200);
  });

  test('a refused request is not remembered', async () => {
    const [key, to] = [unique('k-'), newRecipient()];
    const headers = { 'idempotency-key': key };
    expect(await send({ recipients: [{ to, params: {} }], headers })).toMatchObject({ status: 400 });
    expect(await keyed(key, to)).toMatchObject({ status: 200 });
  });
});
