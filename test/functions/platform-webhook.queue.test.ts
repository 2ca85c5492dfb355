import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { platformWebhookReceive } from '../../functions/platform-webhook-receive.ts';
import { HintMessageSchema } from '../../lib/hints/hint-message.ts';
import { hintQueue } from '../../lib/hints/hint-queue.ts';
import { InboundMessageSchema } from '../../lib/messages/inbound/inbound-message.ts';
import { inboundQueue } from '../../lib/messages/inbound/inbound-queue.ts';
import { ReceiptMessageSchema } from '../../lib/messages/receipts/receipt.ts';
import { receiptQueue } from '../../lib/messages/receipts/receipt-queue.ts';
import type { WebhookPorts } from '../../lib/messages/receipts/receive-webhook.ts';
import { metered } from '../../lib/observe/metrics.ts';
import { platformApps } from '../../lib/platform/webhook/apps.ts';
import { callEndpoint, makeHttpEvent } from '../support/http-event.ts';
import {
  demoApp,
  platformJson,
  signatureOf,
  signedWebhook,
  statusChange,
  statusOf,
  webhookOf,
} from '../support/platform-webhook.ts';
import { injectFaults } from '../support/queue-faults.ts';
import { freshQueue, localQueueClient } from '../support/stores.ts';

const [waba, otherWaba] = demoApp.wabas;
const number = '300000000000001';
const dispatchId = '01JD0000000000000000000000';
const routeKey = 'POST /platform/webhook';
const apps = platformApps(
  JSON.stringify({
    [demoApp.appId]: {
      appSecret: demoApp.secret,
      previousAppSecret: 'the-secret-before',
      verifyToken: demoApp.verifyToken,
      wabas: [waba],
    },
    '5': { appSecret: 'secret-of-another', verifyToken: 'token-of-another', wabas: [otherWaba] },
  }),
);

let urls: { readonly receipts: string; readonly hints: string; readonly inbound: string };
beforeEach(async () => {
  urls = { receipts: await freshQueue(), hints: await freshQueue(), inbound: await freshQueue() };
});

function page(more: Partial<WebhookPorts> = {}, client = localQueueClient()) {
  return platformWebhookReceive({
    apps: async () => apps,
    receipts: receiptQueue(client, urls.receipts),
    hints: hintQueue(client, urls.hints),
    inbound: inboundQueue(client, urls.inbound),
    nowMs: () => 1_800_000_000_000,
    ...more,
  });
}
const post = (webhook: { readonly body: string; readonly headers: Readonly<Record<string, string>> }, at = page()) =>
  callEndpoint(at, makeHttpEvent({ routeKey, ...webhook }));

async function queued<Schema extends v.GenericSchema>(url: string, schema: Schema): Promise<v.InferOutput<Schema>[]> {
  const found: v.InferOutput<Schema>[] = [];
  for (;;) {
    const receive = new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 1, WaitTimeSeconds: 0 });
    const { Messages = [] } = await localQueueClient().send(receive);
    if (Messages.length === 0) return found;
    found.push(...Messages.map(({ Body = '' }) => v.parse(schema, JSON.parse(Body))));
  }
}
const receiptsQueued = async () =>
  (await queued(urls.receipts, ReceiptMessageSchema)).flatMap(({ numbers }) =>
    numbers.flatMap(({ receipts, ...of }) => receipts.map(({ index }) => ({ ...of, index }))),
  );
const hintsQueued = () => queued(urls.hints, HintMessageSchema);
const wordsQueued = () => queued(urls.inbound, InboundMessageSchema);

const delivered = webhookOf(waba, statusChange(number, statusOf(`${dispatchId}-7`)));
const here = { wabaId: waba, phoneNumberId: number };

describe('a signed webhook', () => {
  test('is queued whole: receipts on one queue, hints on the other', async () => {
    const template = { field: 'message_template_status_update', value: { message_template_id: 12, event: 'APPROVED' } };
    const body = webhookOf(waba, statusChange(number, statusOf(`${dispatchId}-7`), statusOf(undefined)), template);
    expect(await post(signedWebhook(body))).toMatchObject({ status: 200, body: { received: true } });
    expect(await receiptsQueued()).toEqual([{ ...here, index: 7 }]);
    expect(await hintsQueued()).toEqual([{ version: 1, wabaId: waba, templateIds: ['12'], numbers: false }]);
  });

  test('may be signed with the secret before, and come as base64', async () => {
    expect((await post(signedWebhook(delivered, 'the-secret-before'))).status).toBe(200);
    const { body, headers } = signedWebhook(delivered);
    const encoded = { body: Buffer.from(body).toString('base64'), headers, isBase64Encoded: true };
    expect((await post(encoded)).status).toBe(200);
    expect(await receiptsQueued()).toEqual([
      { ...here, index: 7 },
      { ...here, index: 7 },
    ]);
  });

  test('of what is not ASCII is taken, escaped or not, as long as it is signed so', async () => {
    const failed = statusOf(`${dispatchId}-7`, {
      status: 'failed',
      errors: [{ code: 131_026, message: 'añejo \u{1f355}' }],
    });
    const value = webhookOf(waba, statusChange(number, failed));
    expect(platformJson(value)).not.toBe(JSON.stringify(value));
    for (const body of [platformJson(value), JSON.stringify(value)]) {
      expect((await post({ body, headers: { 'x-hub-signature-256': signatureOf(body) } })).status).toBe(200);
    }
    const reasons = (await queued(urls.receipts, ReceiptMessageSchema)).map(
      ({ numbers }) => numbers[0]?.receipts[0]?.reason,
    );
    expect(reasons).toEqual(['añejo \u{1f355}', 'añejo \u{1f355}']);
  });

  test('of another WABA than the app is for counts for nothing, and what is its own beside it counts (D38)', async () => {
    const foreign = webhookOf(otherWaba, statusChange('300000000000003', statusOf(`${dispatchId}-1`)));
    const both = { ...delivered, entry: [...foreign.entry, ...delivered.entry] };
    expect((await post(signedWebhook(both))).status).toBe(200);
    expect((await post(signedWebhook(delivered, 'secret-of-another'))).status).toBe(200);
    expect(await receiptsQueued()).toEqual([{ ...here, index: 7 }]);
  });

  test.each<readonly [string, string]>([
    ['nothing', ''],
    ['no JSON', '{"entry":'],
    ['an empty object', '{}'],
    ['nothing of ours', platformJson(webhookOf(waba, statusChange(number, statusOf(undefined))))],
    ['what is no status', platformJson(webhookOf(waba, statusChange(number, 7, null, { id: 1 })))],
    ['an unknown field', platformJson(webhookOf(waba, { field: 'flows', value: {} }))],
    ['brackets without end', '['.repeat(200_000)],
  ])('that says %s is answered 200, and queues nothing', async (_, body) => {
    expect((await post({ body, headers: { 'x-hub-signature-256': signatureOf(body) } })).status).toBe(200);
    expect([await receiptsQueued(), await hintsQueued(), await wordsQueued()]).toEqual([[], [], []]);
  });

  test('with fields that the service does not use is one line and one count, by kind, whatever their names (D38)', async () => {
    const lines: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    const unread = Array.from({ length: 500 }, (_, at) => ({ field: `${'x'.repeat(200)}${at}`, value: {} }));
    const body = webhookOf(
      waba,
      statusChange(number, statusOf(`${dispatchId}-7`)),
      { field: 'flows', value: {} },
      ...unread,
    );
    await post(signedWebhook(body)).finally(() => write.mockRestore());
    const passedOver = lines.filter((line) => line.includes('platform.updates_passed_over'));
    expect(passedOver.map((line) => JSON.parse(line))).toMatchObject([{ count: 501, tally: { flows: 1, other: 500 } }]);
    expect(lines.filter((line) => line.includes('"PlatformUpdatesPassedOver":501'))).toHaveLength(1);
    expect(lines.join('').length).toBeLessThan(2_000);
  });

  test('of 1,000 updates of 3 MB leaves in as few messages as there can be, all requests side by side', async () => {
    const reason = 'x'.repeat(2_600);
    const statuses = Array.from({ length: 1_000 }, (_, index) =>
      statusOf(`${dispatchId}-${index}`, {
        status: 'failed',
        errors: [{ code: 131_026, error_data: { details: reason } }],
      }),
    );
    const webhook = signedWebhook(webhookOf(waba, ...statuses.map((status) => statusChange(number, status))));
    expect(Buffer.byteLength(webhook.body)).toBeGreaterThan(2_900_000);
    const client = localQueueClient();
    let [underWay, together] = [0, 0];
    const attempts = injectFaults(client, async () => {
      underWay += 1;
      together = Math.max(together, underWay);
      await new Promise((resolve) => setTimeout(resolve, 20));
      underWay -= 1;
      return undefined;
    });
    expect((await post(webhook, page({}, client))).status).toBe(200);
    // These are 1,000 receipts of some 1,200 bytes each.
    expect([attempts.length, together]).toEqual([2, 2]);
    expect(new Set((await receiptsQueued()).map(({ index }) => index)).size).toBe(1_000);
  });

  test('of what people do is queued word by word, and counted by kind; a log says nothing of the people (D55)', async () => {
    const person = { from: '16505551234', from_user_id: 'US.13491208655302741918', timestamp: '1750030073' };
    const said = (id: string, message: object) => ({ ...person, id: `wamid.${id}`, ...message });
    const inbound = (field: string, value: object) => ({
      field,
      value: { metadata: { phone_number_id: number }, ...value },
    });
    const changed = {
      ...{ type: 'user_changed_user_id', user_id: 'US.NEW', wa_id: '12195555358' },
      body: 'User Sheena Nelson changed from US.OLD to US.NEW',
    };
    const body = webhookOf(
      waba,
      inbound('messages', {
        messages: [said('1', { type: 'text', text: { body: 'STOP it' } }), said('2', { type: 'image' })],
      }),
      inbound('standby', { messages: [said('3', { type: 'button', button: { payload: 'p-7', text: 'No more' } }), 7] }),
      inbound('user_preferences', {
        user_preferences: [
          { wa_id: '16505551234', category: 'marketing_messages', value: 'stop', timestamp: 1_731_705_721 },
        ],
      }),
      inbound('messages', { messages: [said('4', { type: 'system', system: changed })] }),
    );
    const lines: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    const answer = await metered(() => post(signedWebhook(body))).finally(() => write.mockRestore());
    expect(answer).toMatchObject({ status: 200, body: { received: true } });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'platform.updates_dropped', code: 'unreadable', count: 1 },
      { event: 'platform.person_words', count: 4, tally: { reply: 2, stop: 1, user_id_changed: 1, image: 1 } },
      { PlatformPersonWordsRead: 4, PlatformUpdatesDropped: 1 },
    ]);
    expect(lines.join()).not.toMatch(/6505551234|13491208655302741918|Sheena|STOP|No more|p-7|US\.(OLD|NEW)|wamid/);
    expect([await receiptsQueued(), await hintsQueued()]).toEqual([[], []]);
    const ofPerson = { waId: '16505551234', userId: 'US.13491208655302741918' };
    const saidAt = { atMs: 1_750_030_073_000, receivedAtMs: 1_800_000_000_000 };
    expect(await wordsQueued()).toEqual([
      {
        ...{ version: 1, ...here },
        words: [
          { kind: 'reply', person: ofPerson, ...saidAt, messageId: 'wamid.1', reply: { by: 'text', text: 'STOP it' } },
          {
            ...{ kind: 'reply', person: ofPerson, ...saidAt, messageId: 'wamid.3', standby: true },
            reply: { by: 'quick_reply', text: 'No more', payload: 'p-7' },
          },
          {
            ...{ kind: 'preference', person: { waId: '16505551234' }, says: 'stop' },
            ...{ atMs: 1_731_705_721_000, receivedAtMs: saidAt.receivedAtMs },
          },
          {
            ...{
              kind: 'id_changed',
              person: { waId: '12195555358', userId: 'US.NEW' },
              ...saidAt,
              messageId: 'wamid.4',
            },
            old: { waId: '16505551234', userId: 'US.OLD' },
          },
        ],
      },
    ]);
  });

  test('of words of hundreds of people leaves in a few messages, each of one number', async () => {
    const said = (at: number) => ({
      from: '16505551234',
      id: `wamid.${at}`,
      type: 'text',
      text: { body: 'é'.repeat(4_000) },
    });
    const inbound = (of: string, first: number) => ({
      field: 'messages',
      value: { metadata: { phone_number_id: of }, messages: Array.from({ length: 60 }, (_, at) => said(first + at)) },
    });
    expect(
      (await post(signedWebhook(webhookOf(waba, inbound(number, 0), inbound('300000000000002', 60))))).status,
    ).toBe(200);
    const messages = await wordsQueued();
    expect(messages.map(({ phoneNumberId, words }) => [phoneNumberId, words.length]).sort()).toEqual([
      [number, 10],
      [number, 50],
      ['300000000000002', 10],
      ['300000000000002', 50],
    ]);
  });

  test('of which receipts or words cannot be queued is 503, for the platform to repeat; so is one while the secrets cannot be read', async () => {
    const client = localQueueClient();
    injectFaults(client, () => 'before');
    const stop = { wa_id: '16505551234', category: 'marketing_messages', value: 'stop', timestamp: 1_731_705_721 };
    const value = { metadata: { phone_number_id: number }, user_preferences: [stop] };
    const told = webhookOf(waba, { field: 'user_preferences', value });
    for (const [webhook, away] of [
      [delivered, page({}, client)],
      [told, page({ inbound: inboundQueue(client, urls.inbound) })],
    ] as const) {
      const answer = await post(signedWebhook(webhook), away);
      expect(answer).toMatchObject({ status: 503, body: { code: 'webhook_not_taken' } });
    }
    const unread = page({ apps: async () => Promise.reject(new Error('canary')) });
    expect(await post(signedWebhook(delivered), unread)).toMatchObject({ status: 503 });
    expect(await receiptsQueued()).toEqual([]);
  });
});

describe('what no app has signed', () => {
  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ['without signature', {}],
    ['with the signature of another body', { 'x-hub-signature-256': signatureOf('{}') }],
    ['with a stale secret', { 'x-hub-signature-256': signatureOf(platformJson(delivered), 'long-gone-secret') }],
  ])('is 401, %s, and nothing of it is read', async (_, headers) => {
    const body = platformJson(delivered);
    expect(await post({ body, headers })).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    expect(await post({ body: '{', headers })).toMatchObject({ status: 401 });
    expect([await receiptsQueued(), await hintsQueued()]).toEqual([[], []]);
  });

  test('is 413 over 4 MB, signed or not', async () => {
    const body = 'x'.repeat(4_194_305);
    expect(await post({ body, headers: {} })).toMatchObject({ status: 413 });
    expect(await post({ body, headers: { 'x-hub-signature-256': signatureOf(body) } })).toMatchObject({ status: 413 });
  });
});
