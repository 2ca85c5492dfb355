import { readFileSync } from 'node:fs';
import { PurgeQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resourceName } from '../../infra/names.ts';
import { addressOf } from '../support/addresses.ts';
import { api, as, eventually, platform, synchronize } from '../support/api.ts';
import { leaksIn } from '../support/log-leaks.ts';
import { endingsOf, messagesHeld, outcomesOn, queueClientAt, runningTarget } from '../support/running-target.ts';

/*
 * Clients put canaries into every text field of requests that succeed and of requests that fail in every layer (R44).
 * The global set-up checks the log once more after all files.
 */

const canary = 'canary-3f9a';
const did = '5491100000001';
const mediaUrl = `https://cdn.example.com/${canary}.png`;
const to = (index: number) => String(549_700_000_000 + index);
const sqs = queueClientAt(addressOf('sqsEndpoint'));
/** A message passes these queues on its way to the platform. */
const queuesOfMessages = ['dispatch', 'urgent'];
const queueUrl = (purpose: string) => addressOf('queueUrls')[resourceName('local', purpose)] ?? '';
const log = () => readFileSync(addressOf('functionLog'), 'utf8');
const logged = (text: string) =>
  eventually(`the log says ${text}`, async () => (log().includes(text) ? true : undefined), 10_000);

const order = { did, type: 'template', channel: 'MESSAGING', template: { name: 'order_update', language: 'en_US' } };
const send = (changes: object, headers?: Record<string, string>) =>
  as('supervisor1001', `POST /v1/template/messages/${did}`, { ...order, recipients: [], ...changes }, headers);
const recipient = (index: number) => ({ to: to(index), params: { body: [canary, canary], buttons: [canary] } });

beforeAll(async () => {
  await synchronize('supervisor1001');
});
afterAll(async () => {
  await platform('DELETE /_control/faults');
  for (const purpose of queuesOfMessages) {
    await sqs.send(new PurgeQueueCommand({ QueueUrl: queueUrl(purpose) }));
    expect(await messagesHeld(sqs, queueUrl(purpose))).toBe(0);
  }
  sqs.destroy();
});

test('the search finds what it must find, and nothing in what is logged as it should', () => {
  const bad = [
    `{"to":"${to(1)}"}`,
    `{"to":"+${to(1)}"}`,
    canary,
    mediaUrl,
    'Authorization: Bearer x',
    'demo-operator',
    'eyJhbGciOiJFUzI1NiJ9',
    '15550131026 failed',
    `did ${did}`,
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    '{"to":"US.ENT.11815799212886844830"}',
    'AR.13491208655302741918',
  ];
  expect(leaksIn(bad.join('\n'))).toEqual(bad);
  const good =
    '{"event":"send.sent","messageId":"01M7XY0DBSF6WK0M03HJTSTHKW-549","correlationId":"0a-b-5491100000001"}';
  expect(leaksIn(good)).toEqual([]);
});

describe('nothing secret or personal is logged', () => {
  test('by logins and tokens', async () => {
    const attempts: unknown[] = [
      { username: 'operator', password: 'demo-operator' },
      { username: 'supervisor1002', password: canary },
      { username: canary, password: canary },
      { username: { canary }, password: [canary] },
      `{"username":"${canary}","password":`,
      `${canary}=${canary}`,
      'x'.repeat(5_000) + canary,
    ];
    for (const body of attempts) expect([200, 400, 401, 413]).toContain((await api('POST /login', { body })).status);
    for (const authorization of [canary, `Bearer ${canary}`, `Basic ${canary}`, `Bearer eyJ${canary}.${canary}.x`]) {
      expect(await api('GET /v1/templates', { headers: { authorization } })).toMatchObject({ status: 401 });
    }
  });

  test('by requests that are refused', async () => {
    const call = (route: string, body?: unknown) => as('supervisor1001', route, body);
    const replies = [
      await send({ [canary]: canary }),
      await send({ recipients: [{ to: canary, params: { body: [canary] } }] }),
      await send({ recipients: [{ to: to(1), params: { body: [canary] } }] }),
      await send({ recipients: [recipient(2)], component: { header: { type: 'image_url', value: mediaUrl } } }),
      await send({ template: { name: canary.replace('-', '_'), language: 'en_US' }, recipients: [recipient(3)] }),
      await send({ recipients: [recipient(4)] }, { 'idempotency-key': `${canary} ${canary}` }),
      await call(`POST /v1/template/messages/${did}`, `{"to":"${to(5)}","${canary}":`),
      await call(`POST /v1/template/messages/${did}`, `${canary} ${to(6)}`),
      await call(`POST /v1/template/messages/${canary}`, { did: canary }),
      await call(`GET /v1/templates?page=${canary}`),
      await call(`GET /v1/templates?client_id=${canary}`),
      await call('POST /v1/templates/sync-from-platform', { client_id: canary }),
    ];
    for (const { status } of replies) expect([400, 404]).toContain(status);
    expect(await call(`GET /v1/templates?search=${canary}&did=${did}`)).toMatchObject({ status: 200 });
  });

  test('by sends that end well and by sends that do not', async () => {
    const fates: [index: number, action: object][] = [
      [10, { code: 131026 }],
      [11, { status: 500 }],
      [12, { html: `<p>${canary}</p>` }],
      [13, { drop: 'before' }],
      [14, { drop: 'after' }],
      [15, { status: 429, html: canary }],
    ];
    for (const [index, action] of fates) {
      await platform('POST /_control/faults', { match: { to: to(index) }, action, times: 1 });
    }
    const replies = [
      await send(
        // Eleven recipients are too many for a straight request, so the dispatch is stored, and its number's sender sends it.
        { recipients: [9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map(recipient), attends: { canary } },
        { 'idempotency-key': canary },
      ),
      await send({
        template: { name: 'welcome_offer', language: 'es' },
        recipients: [{ to: to(20), params: { body: [canary] } }],
        component: { header: { type: 'image_url', value: mediaUrl, filename: canary } },
      }),
      await send({
        template: { name: 'store_visit', language: 'en_US' },
        recipients: [{ to: to(21), params: { body: [canary] } }],
        component: {
          header: {
            type: 'location',
            location: { latitude: '-34.6', longitude: '-58.4', name: canary, address: canary },
          },
        },
      }),
    ];
    for (const reply of replies) {
      expect(reply.status).toBe(200);
      const dispatchId = reply.headers.get('dispatch-id') ?? '';
      await endingsOf(outcomesOn(runningTarget()), dispatchId);
      await logged(dispatchId);
    }
    const dispatchId = replies[0]?.headers.get('dispatch-id');
    await logged(`"send.failed","at":`);
    expect(log()).toContain(`"messageId":"${dispatchId}-2","code":"131000"`);
  });

  test('by a platform that is down', async () => {
    await platform('POST /_control/faults', {
      match: { path: 'message_templates' },
      action: { status: 500, html: `<p>${canary} ${to(30)}</p>` },
    });
    const reply = await send({
      template: { name: `${canary.replace('-', '_')}_2`, language: 'es' },
      recipients: [recipient(30)],
    });
    expect(reply.status).toBe(502);
    await logged('platform_unreachable');
  });

  test('by queue messages that no worker can read', async () => {
    const count = () => log().split('"event":"send.error"').length + log().split('"event":"dispatch.failed"').length;
    const before = count();
    // The parser of Node.js quotes the beginning of the text that it cannot parse.
    const unreadable = [`${canary} ${to(40)}`, JSON.stringify({ request: { to: to(41) }, canary })];
    for (const purpose of queuesOfMessages) {
      for (const MessageBody of unreadable) {
        await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl(purpose), MessageBody }));
      }
    }
    await eventually('all six are reported', async () => (count() >= before + 6 ? true : undefined));
    expect(leaksIn(log())).toEqual([]);
  });

  test('as far as anything has been logged until now', () => {
    expect(log().split('\n').length).toBeGreaterThan(10);
    expect(leaksIn(log())).toEqual([]);
  });
});
