import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { lookupKey } from '../../lib/messages/dispatch/items.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import { api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { runningTarget } from '../support/running-target.ts';
import { orderParams } from '../support/sends.ts';
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

/*
 * The single rules are in test/lib/messages/request/{send-request,recipient-rules}.test.ts, warnings and the order of
 * checks in test/functions/messages-send.adapter.test.ts, headers in test/lib/http/request-headers.test.ts.
 */
describe('what is refused names the field and queues nothing', () => {
  const to = '5491155550001';
  const image = { header: { type: 'image_url', value: 'http://cdn.example.com/a.png', filename: 'a.png' } };
  const good = { to, params: orderParams };
  const short = { to: '5491155550002', params: { body: ['a'], buttons: ['b'] } };
  const cases: [string, Send, number, string, string?][] = [
    ['path and body did differ', { path: '5491100000002' }, 422, 'did_mismatch'],
    ['named parameters', { template: { name: 'named_params', language: 'en_US' } }, 422, 'template_not_sendable'],
    ['no recipients', { extra: { recipients: undefined } }, 400, 'invalid_request', 'recipients'],
    ['a to that is none', { recipients: [{ ...good, to: '54 911' }] }, 400, 'invalid_request', 'recipients[0].to'],
    [
      ...(['a fault in the second only', { recipients: [good, short] }, 400] as const),
      ...(['invalid_recipients', 'recipients[1].params.body'] as const),
    ],
    ['an image where there is none', { extra: { component: image } }, 400, 'invalid_request', 'component.header'],
    [
      ...(['an Idempotency-Key of blanks', { headers: { 'idempotency-key': ' ' } }, 400] as const),
      ...(['invalid_request', 'Idempotency-Key'] as const),
    ],
  ];
  test.each(cases)('%s', async (_, what, status, code, path) => {
    const before = (await platform('GET /_control/messages?limit=1')).body.total;
    const { body, ...reply } = await send(what);
    expect([reply.status, body.code, body.message]).toEqual([status, code, expect.any(String)]);
    const paths = (body.errors ?? []).map((fault: { path: string }) => fault.path);
    if (path !== undefined) expect(paths.join()).toContain(path);
    expect((await platform('GET /_control/messages?limit=1')).body.total).toBe(before);
  });
});

describe('Idempotency-Key (D9)', () => {
  const keyed = (key: string, to: string) =>
    send({ recipients: [{ to, params: orderParams }], headers: { 'idempotency-key': key } });

  test('the same request twice answers the same and sends once; with another body it is 422', async () => {
    const [key, to] = [unique('k-'), newRecipient()];
    const [first, second] = [await keyed(key, to), await keyed(key, to)];
    expect(first).toMatchObject({ status: 200, text: '{"success":true}' });
    expect(second).toMatchObject({ status: 200, text: first.text });
    expect(second.headers.get('dispatch-id')).toBe(first.headers.get('dispatch-id'));
    expect(await keyed(key, newRecipient())).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
    await deliveredOnce(to);
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
});
