import { readFileSync } from 'node:fs';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { type ApiRequest, as, type DemoUser } from '../support/api.ts';
import { auditLinesOf } from '../support/audit-lines.ts';
import { clients, onDeployedStage } from '../support/demo.ts';
import { forgetWebhook } from '../support/forget-webhook.ts';
import { runningTarget } from '../support/running-target.ts';

/*
 * The rules of a configuration are in test/lib/webhooks/config/, races in config-store.adapter.test.ts there, whose it is
 * in contract/tenancy/client-data.ts.
 */

const path = '/v1/webhook/config';
const url = 'https://hooks.example.com/events';
const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/;
const { documentClient, tableName } = runningTarget();
const key = { TableName: tableName('webhooks'), Key: { pk: `CLIENT#${clients.andes}`, sk: 'CONFIG' } };
const shownSecrets: string[] = [];

async function put(body: unknown, headers?: ApiRequest['headers'], user: DemoUser = 'supervisor1001') {
  const reply = await as(user, `PUT ${path}`, body, headers);
  const secret = reply.headers.get('webhook-secret');
  if (secret !== null) shownSecrets.push(secret);
  return { ...reply, secret };
}
const get = () => as('supervisor1001', `GET ${path}`);
const rotation = { 'Webhook-Secret-Rotate': 'true' };

async function forget(): Promise<void> {
  for (const clientId of [clients.andes, clients.boreal]) await forgetWebhook(clientId);
}
beforeEach(forget);
afterAll(forget);

describe('what is asked for', () => {
  test('the first PUT creates an active configuration and shows its secret, no later PUT does (D33)', async () => {
    const first = await put({ url });
    expect([first.status, first.body]).toEqual([200, { client_id: clients.andes, url, active: true }]);
    expect(first.secret).toMatch(secretForm);
    const second = await put({ url: `${url}/2`, active: false });
    const changed = { client_id: clients.andes, url: `${url}/2`, active: false };
    expect([second.status, second.body, second.secret]).toEqual([200, changed, null]);
    const shown = await get();
    expect([shown.status, shown.body, shown.headers.get('webhook-secret')]).toEqual([200, changed, null]);
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

  test('GET says what is wrong with the receiver, until a PUT starts again (D34)', async () => {
    await put({ url });
    const failing = { consecutiveFailures: 2, failingSinceMs: Date.parse('2026-11-21T04:00:00Z') };
    // The deliveries hold an optimistic lock, which refuses an item without this stamp.
    const Item = { ...key.Key, sk: 'DELIVERY', ...failing, version: 1, writer: 'test' };
    await documentClient.send(new PutCommand({ TableName: key.TableName, Item }));
    const trouble = { state: 'failing', since: '2026-11-21T04:00:00.000Z', failures: 2 };
    expect((await get()).body).toEqual({ client_id: clients.andes, url, active: true, trouble });
    expect((await put({ url: `${url}/other` })).body).not.toHaveProperty('trouble');
    expect((await get()).body).not.toHaveProperty('trouble');
  });

  test('a PUT with Webhook-Secret-Rotate: true shows a new secret, the first one shows one', async () => {
    const first = await put({ url }, rotation);
    const second = await put({ url }, rotation);
    for (const { secret } of [first, second]) expect(secret).toMatch(secretForm);
    expect(second.secret).not.toBe(first.secret);
    expect((await put({ url }, { 'Webhook-Secret-Rotate': 'false' })).secret).toBeNull();
    expect((await documentClient.send(new GetCommand(key))).Item?.['secrets']).toHaveLength(2);
  });

  test('events are answered once they were set, and stay when a PUT leaves them out (D41)', async () => {
    const events = ['message.failed', 'dispatch.completed'];
    expect((await put({ url })).body).not.toHaveProperty('events');
    expect((await put({ url, events: [...events, 'message.failed'] })).body).toMatchObject({ events });
    await put({ url });
    expect((await get()).body).toMatchObject({ events });
  });
});

describe('what is refused, word for word', () => {
  const noKind = 'events: message.delivred is no kind of event; did you mean message.delivered?';
  test.each<[string, unknown, ApiRequest['headers'], string]>([
    ['the metadata address', { url: 'https://[::ffff:169.254.169.254]/' }, {}, 'url must name a public host'],
    ['a kind of event that is none', { url, events: ['message.delivred'] }, {}, noKind],
    ['an unknown field', { url, activ: false }, {}, 'unrecognized field: activ; did you mean active?'],
    [
      ...(['a rotation that is neither', { url }, { 'Webhook-Secret-Rotate': 'yes' }] as const),
      'Webhook-Secret-Rotate must be true or false, received "yes"',
    ],
  ])('400, %s, and nothing is stored', async (_, body, headers, message) => {
    const reply = await put(body, headers);
    expect([reply.status, reply.body.code, reply.body.message, reply.secret]).toEqual([
      ...[400, 'invalid_request', message, null],
    ]);
    const noneExists = `no webhook configuration exists for client ${clients.andes}`;
    expect(await get()).toMatchObject({
      status: 404,
      body: { message: noneExists, code: 'webhook_config_not_found' },
    });
  });

  test('403, another client without BSP_CN, and nothing is written or told', async () => {
    await put({ url }, {}, 'supervisor1002');
    const stolen = { url: 'https://thief.example.com/', client_id: clients.boreal };
    expect(await put(stolen, rotation)).toMatchObject({ status: 403, secret: null });
    expect((await as('supervisor1002', `GET ${path}`)).body.url).toBe(url);
  });
});

test.skipIf(onDeployedStage)('no secret is in the table or in a log', async () => {
  const { secret } = await put({ url });
  await put({ url }, rotation);
  const { Item } = await documentClient.send(new GetCommand(key));
  expect(secret).toMatch(secretForm);
  expect(Item?.['secrets']).toHaveLength(2);
  const kept = `${JSON.stringify(Item)}\n${readFileSync(addressOf('functionLog'), 'utf8')}`;
  expect(kept).not.toContain('whsec_');
  const shown = shownSecrets.map((text) => text.slice('whsec_'.length));
  expect(shown.filter((text) => kept.includes(text))).toEqual([]);
});
