import { readFileSync } from 'node:fs';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { type ApiRequest, api, type DemoUser, tokenOf } from '../support/api.ts';
import { auditLinesOf } from '../support/audit-lines.ts';
import { clients, onDeployedStage } from '../support/demo.ts';
import { forgetWebhook } from '../support/forget-webhook.ts';
import { runningTarget } from '../support/running-target.ts';

const path = '/v1/webhook/config';
const url = 'https://hooks.example.com/events';
const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/;
const { documentClient, tableName } = runningTarget();
const keyOf = (clientId: number) => ({
  TableName: tableName('webhooks'),
  Key: { pk: `CLIENT#${clientId}`, sk: 'CONFIG' },
});
const shownSecrets: string[] = [];

async function put(body: unknown, request: ApiRequest = {}, user: DemoUser = 'supervisor1001', query = '') {
  const reply = await api(`PUT ${path}${query}`, { token: await tokenOf(user), body, ...request });
  const secret = reply.headers.get('webhook-secret');
  if (secret !== null) shownSecrets.push(secret);
  return { ...reply, secret };
}
const get = async (user: DemoUser = 'supervisor1001', query = '') =>
  api(`GET ${path}${query}`, { token: await tokenOf(user) });
const rotation = { headers: { 'Webhook-Secret-Rotate': 'true' } };

async function forget(): Promise<void> {
  for (const clientId of [clients.andes, clients.boreal]) await forgetWebhook(clientId);
}
beforeEach(forget);
afterAll(forget);

describe('what is asked for', () => {
  test('the first PUT creates an active configuration and shows its secret, no later PUT does (D33)', async () => {
    const created = await put({ url });
    expect(created).toMatchObject({ status: 200, body: { client_id: clients.andes, url, active: true } });
    expect(created.secret).toMatch(secretForm);

    const changed = await put({ url: `${url}/2`, active: false });
    expect(changed).toMatchObject({ status: 200, body: { client_id: clients.andes, url: `${url}/2`, active: false } });
    expect(changed.secret).toBeNull();
    expect((await put({ url })).body).toEqual({ client_id: clients.andes, url, active: false });
  });

  test('a PUT is in the audit, a secret that was made apart, and no URL, which may hold one', async () => {
    await put({ url });
    await put({ url, active: false });
    const lines = await auditLinesOf(runningTarget(), clients.andes);
    const puts = lines.filter(({ what }) => what.startsWith('webhook.')).slice(-2);
    expect(puts.map(({ what, on, outcome }) => ({ what, on, outcome }))).toEqual([
      { what: 'webhook.secret_changed', on: {}, outcome: 'done' },
      { what: 'webhook.changed', on: {}, outcome: 'done' },
    ]);
    expect(new Set(puts.map(({ who }) => who)).size).toBe(1);
  });

  test('GET answers what was PUT, without secret', async () => {
    await put({ url, active: false });
    const reply = await get();
    expect(reply).toMatchObject({ status: 200, body: { client_id: clients.andes, url, active: false } });
    expect(Object.keys(reply.body)).toEqual(['client_id', 'url', 'active']);
    expect(reply.headers.get('webhook-secret')).toBeNull();
  });

  test('GET says what is wrong with the receiver, until a PUT starts again (D34)', async () => {
    await put({ url });
    const { TableName, Key } = keyOf(clients.andes);
    const failing = { consecutiveFailures: 2, failingSinceMs: Date.parse('2026-11-21T04:00:00Z') };
    // The deliveries hold an optimistic lock, which refuses an item without this stamp.
    const stamp = { version: 1, writer: 'test' };
    await documentClient.send(new PutCommand({ TableName, Item: { ...Key, sk: 'DELIVERY', ...failing, ...stamp } }));
    const trouble = { state: 'failing', since: '2026-11-21T04:00:00.000Z', failures: 2 };
    expect((await get()).body).toEqual({ client_id: clients.andes, url, active: true, trouble });
    expect((await put({ url: `${url}/other` })).body).not.toHaveProperty('trouble');
    expect((await get()).body).not.toHaveProperty('trouble');
  });

  test('a PUT with Webhook-Secret-Rotate: true shows a new secret', async () => {
    const first = await put({ url });
    const second = await put({ url }, rotation);
    expect(second.secret).toMatch(secretForm);
    expect(second.secret).not.toBe(first.secret);
    expect((await put({ url }, { headers: { 'Webhook-Secret-Rotate': 'false' } })).secret).toBeNull();
  });

  test('creating with the header makes one secret', async () => {
    expect((await put({ url }, rotation)).secret).toMatch(secretForm);
    const { Item } = await documentClient.send(new GetCommand(keyOf(clients.andes)));
    expect(Item?.['secrets']).toHaveLength(1);
  });

  test('events are answered once they were set, and stay when a PUT leaves them out (D41)', async () => {
    const events = ['message.failed', 'dispatch.completed'];
    expect((await put({ url })).body).not.toHaveProperty('events');
    expect((await put({ url, events: [...events, 'message.failed'] })).body).toEqual({
      ...{ client_id: clients.andes, url, active: true },
      events,
    });
    await put({ url });
    expect((await get()).body).toMatchObject({ events });
    expect((await put({ url, events: [] })).body).toMatchObject({ events: [] });
    const refused = await put({ url, events: ['message.delivred'] });
    expect(refused).toMatchObject({
      status: 400,
      body: { message: 'events: message.delivred is no kind of event; did you mean message.delivered?' },
    });
    expect((await get()).body).toMatchObject({ events: [] });
  });

  test('unknown fields are refused by name, and nothing changes (D6)', async () => {
    await put({ url });
    const reply = await put({ url: `${url}/other`, activ: false, secret: 'mine' });
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(reply.body.errors.map(({ message }: { message: string }) => message)).toEqual([
      'unrecognized field: activ; did you mean active?',
      'unrecognized field: secret',
    ]);
    expect(await put({ url })).toMatchObject({ status: 200, body: { client_id: clients.andes, url, active: true } });
  });

  test('each client has its own; the operator works for any (D4)', async () => {
    await put({ url: `${url}/${clients.andes}` });
    const query = `?client_id=${clients.boreal}`;
    expect((await put({ url: `${url}/a` }, {}, 'operator', query)).body.client_id).toBe(clients.boreal);
    const changed = await put({ url: `${url}/b`, client_id: clients.boreal }, {}, 'operator');
    expect([changed.body.client_id, changed.secret]).toEqual([clients.boreal, null]);
    expect((await get('supervisor1002')).body.url).toBe(`${url}/b`);
    expect((await get('operator', query)).body.url).toBe(`${url}/b`);
    expect((await get()).body.url).toBe(`${url}/${clients.andes}`);
  });

  test('two PUTs at once leave one configuration, and one of them shows its secret', async () => {
    const replies = await Promise.all(['a', 'b'].map((name) => put({ url: `${url}/${name}` })));
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(replies.filter(({ secret }) => secret !== null)).toHaveLength(1);
    const { body } = await get();
    expect(replies.map((reply) => reply.body)).toContainEqual(body);
  });
});

describe('what is refused, word for word', () => {
  test.each<[string, unknown, string, string]>([
    ['credentials', { url: 'https://me:canary@hooks.example.com/' }, 'url', 'url must not carry credentials'],
    ['the metadata address', { url: 'https://[::ffff:169.254.169.254]/' }, 'url', 'url must name a public host'],
    ['active as text', { url, active: 'no' }, 'active', 'active must be true or false, received "no"'],
  ])('400, %s', async (_, body, field, message) => {
    const reply = await put(body);
    expect(reply).toMatchObject({ status: 400, secret: null });
    expect(reply.body).toEqual({ message, code: 'invalid_request', errors: [{ path: field, message }] });
    expect((await get()).status).toBe(404);
  });

  test('400, invalid client_id, in the body and in the query, for both methods', async () => {
    const message = 'invalid client_id: abc';
    const expected = {
      status: 400,
      body: { message, code: 'invalid_client_id', errors: [{ path: 'client_id', message }] },
    };
    expect(await put({ url, client_id: 'abc' })).toMatchObject(expected);
    expect(await put({ url }, {}, 'supervisor1001', '?client_id=abc')).toMatchObject(expected);
    expect(await get('supervisor1001', '?client_id=abc')).toMatchObject(expected);
  });

  test('400, a rotation that is neither true nor false', async () => {
    const reply = await put({ url }, { headers: { 'Webhook-Secret-Rotate': 'yes' } });
    expect(reply).toMatchObject({
      status: 400,
      body: { message: 'Webhook-Secret-Rotate must be true or false, received "yes"' },
    });
  });

  test.each(['{', 'null'])('400, the body %j', async (body) => {
    expect(await put(body)).toMatchObject({ status: 400, body: { code: 'malformed_body' } });
  });

  test('403, another client without BSP_CN, and nothing is written or told', async () => {
    await put({ url }, {}, 'supervisor1002');
    const expected = {
      status: 403,
      body: { message: 'BSP_CN permission required for cross-client access', code: 'cross_client_forbidden' },
    };
    const stolen = { url: 'https://thief.example.com/' };
    expect(await put({ ...stolen, client_id: clients.boreal }, rotation)).toMatchObject({ ...expected, secret: null });
    expect(await put(stolen, rotation, 'supervisor1001', `?client_id=${clients.boreal}`)).toMatchObject({
      ...expected,
      secret: null,
    });
    expect(await get('supervisor1001', `?client_id=${clients.boreal}`)).toMatchObject(expected);
    expect((await get('supervisor1002')).body.url).toBe(url);
  });

  test('404, no configuration exists for that client', async () => {
    expect(await get()).toMatchObject({
      status: 404,
      body: {
        message: `no webhook configuration exists for client ${clients.andes}`,
        code: 'webhook_config_not_found',
      },
    });
    expect((await get('operator', `?client_id=${clients.boreal}`)).body.message).toBe(
      `no webhook configuration exists for client ${clients.boreal}`,
    );
  });

  test('401 without token', async () => {
    expect((await api(`GET ${path}`)).status).toBe(401);
    expect((await api(`PUT ${path}`, { body: { url } })).status).toBe(401);
  });
});

test.skipIf(onDeployedStage)('no secret is in the table or in a log', async () => {
  const { secret } = await put({ url });
  await put({ url }, rotation);
  const { Item } = await documentClient.send(new GetCommand(keyOf(clients.andes)));
  expect(secret).toMatch(secretForm);
  expect(Item?.['secrets']).toHaveLength(2);
  const kept = `${JSON.stringify(Item)}\n${readFileSync(addressOf('functionLog'), 'utf8')}`;
  expect(kept).not.toContain('whsec_');
  const shown = shownSecrets.map((text) => text.slice('whsec_'.length));
  expect(shown.filter((text) => kept.includes(text))).toEqual([]);
});
