import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Delivery,
  receiverUrl,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../infra/local/webhook-receiver.ts';
import { holdsKey } from '../../lib/messages/dispatch/items.ts';
import { addressOf } from '../support/addresses.ts';
import { type ApiReply, api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { eventFaults } from '../support/documented.ts';
import { orderDid as did, sendOrders } from '../support/order-updates.ts';
import { demoApp, signedWebhook, statusChange, statusOf, webhookOf } from '../support/platform-webhook.ts';
import { runningTarget } from '../support/running-target.ts';

/*
 * The closed loop (D38 to D41) goes from a send over the simulator's signed webhooks to the report and the client's
 * webhook. Everything goes over HTTP.
 */

interface Fate {
  readonly what: string;
  readonly to: string;
  /** The simulator sends these statuses; magic recipients have their own. */
  readonly course?: Readonly<Record<string, unknown>>;
  /** The request meets this fault, for any recipient. */
  readonly action?: object;
  readonly ending: Readonly<Record<string, unknown>>;
  /** Each of these kinds of event tells of it once. */
  readonly told?: readonly string[];
}

const failed = (code: string) => ({ state: 'failed', code, reason: expect.stringMatching(/\w/) });
const hourMs = 3_600_000;

/**
 * Only tests send receipts of these messages. When one shows, the receipts in the same webhook have been processed too.
 */
const marks = ['549240000011', '549240000012'] as const;

const fates: readonly Fate[] = [
  ...marks.map((to) => ({ what: 'nothing ever told', to, course: { lost: true }, ending: { state: 'sent' } })),
  { what: 'read', to: '549240000001', ending: { state: 'read' } },
  {
    what: 'delivered and never read',
    to: '549240000002',
    course: { read_after_ms: null },
    ending: { state: 'delivered' },
  },
  {
    what: 'sent and no more',
    to: '549240000003',
    course: { delivered_after_ms: null, read_after_ms: null },
    ending: { state: 'sent' },
  },
  {
    what: 'read, of which no delivery was told',
    to: '549240000004',
    course: { delivered_after_ms: null },
    ending: { state: 'read' },
  },
  { what: 'nothing ever told', to: '549240000005', course: { lost: true }, ending: { state: 'sent' } },
  {
    what: 'told three times, the last first',
    to: '549240000006',
    course: { copies: 3, order: 'reversed' },
    ending: { state: 'read' },
  },
  {
    what: 'told five times and shuffled',
    to: '549240000007',
    course: { copies: 5, order: 'shuffled' },
    ending: { state: 'read' },
  },
  {
    what: 'told three times to have failed',
    to: '549240000008',
    course: { fail: 131026, copies: 3 },
    ending: failed('131026'),
    told: ['message.failed'],
  },
  { what: 'undeliverable, at once', to: '15550231026', ending: failed('131026'), told: ['message.failed'] },
  { what: 'undeliverable, later', to: '15550131026', ending: failed('131026'), told: ['message.failed'] },
  { what: 'the cap of a person', to: '15550131049', ending: failed('131049'), told: ['message.failed'] },
  { what: 'marketing stopped', to: '15550131050', ending: failed('131050'), told: ['message.failed'] },
  { what: 'media not fetched', to: '15550131053', ending: failed('131053'), told: ['message.failed'] },
  {
    what: 'held, then released',
    to: '15550000201',
    course: { held_ms: 1_000 },
    ending: { state: 'read' },
    told: ['message.held'],
  },
  {
    what: 'held, then dropped',
    to: '15550132015',
    course: { held_ms: 1_000 },
    ending: failed('132015'),
    told: ['message.failed', 'message.held'],
  },
  {
    what: 'held to the end',
    to: '15550000202',
    ending: { state: 'held', code: 'paused' },
    told: ['message.held'],
  },
  {
    what: 'the answer lost, settled by what came three times',
    to: '15550000200',
    course: { late_ms: 5_000, copies: 3, order: 'shuffled' },
    ending: { state: 'read' },
    told: ['message.resolved', 'message.unknown'],
  },
  {
    what: 'the answer lost, and failed later',
    to: '549240000009',
    action: { drop: 'after' },
    course: { fail: 131026, failed_after_ms: 5_000 },
    ending: failed('131026'),
    told: ['message.failed', 'message.resolved', 'message.unknown'],
  },
  {
    what: 'the answer lost, and nothing told',
    to: '549240000010',
    action: { drop: 'after' },
    course: { lost: true },
    ending: { state: 'unknown', code: 'no_answer' },
    told: ['message.unknown'],
  },
];

const [waba, otherWaba] = demoApp.wabas;
const [phoneNumberId, foreignNumberId] = ['300000000000001', '300000000000002'];
const sentOnly = '549240000003';
const neverTold = '549240000005';
const heldToTheEnd = '15550000202';

const { documentClient, tableName } = runningTarget();
const deliveries: Delivery[] = [];
const secret = Promise.withResolvers<string>();
let receiver: WebhookReceiver;
let dispatchId: string;

async function configure(active: boolean): Promise<ApiReply> {
  const headers = { 'webhook-secret-rotate': String(active) };
  const body = { url: receiverUrl, active };
  return api('PUT /v1/webhook/config', { token: await tokenOf('supervisor1001'), headers, body });
}

async function report(): Promise<ApiReply['body']> {
  const reply = await api(`GET /v1/template/messages/${did}/${dispatchId}`, { token: await tokenOf('supervisor1001') });
  expect(reply.status).toBe(200);
  return reply.body;
}

/** Returns the recipient's row of the report once it is in that state; fails when it never is. */
async function rowOf(to: string, state: unknown): Promise<Record<string, unknown>> {
  return eventually(`${to} is ${state}`, async () => {
    const row = (await report()).data.find((each: { to: string }) => each.to === to);
    return row?.state === state ? row : undefined;
  });
}

const messageIdOf = (to: string) => `${dispatchId}-${fates.findIndex((fate) => fate.to === to)}`;

/** Returns the events of a message, each id once. */
function toldOf(messageId: string): { readonly type: string; readonly data: Record<string, unknown> }[] {
  const events = new Map(deliveries.map(({ webhookId, body }) => [webhookId, JSON.parse(body)]));
  return [...events.values()].filter(({ data }) => data.message_id === messageId);
}

/** The platform sends these statuses now in one webhook, as the app of the WABA. */
async function tell(...statuses: readonly (readonly [to: string, status: object, phoneNumberId?: string])[]) {
  const changes = statuses.map(([to, status, number = phoneNumberId]) =>
    statusChange(number, statusOf(messageIdOf(to), { timestamp: nowSeconds(), ...status })),
  );
  const reply = await api('POST /platform/webhook', signedWebhook(webhookOf(waba, ...changes)));
  expect(reply.status).toBe(200);
}

const nowSeconds = () => String(Math.floor(Date.now() / 1_000));

beforeAll(async () => {
  await synchronize('supervisor1001');
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
  receiver = await startWebhookReceiver(addressOf('webhookReceiverPort'), secret.promise, (delivery) => {
    deliveries.push(delivery);
  });
  secret.resolve((await configure(true)).headers.get('webhook-secret') ?? '');
  for (const { to, course, action } of fates) {
    if (course !== undefined) await platform('POST /_control/receipts', { match: { to }, course, times: 1 });
    if (action !== undefined) await platform('POST /_control/faults', { match: { to }, action, times: 1 });
  }
  dispatchId = await sendOrders(fates.map(({ to }) => to));
}, 60_000);

afterAll(async () => {
  await platform('DELETE /_control/faults').catch(() => undefined);
  await tellAt(addressOf('platformUrl'), null);
  await configure(false);
  await receiver.close();
  for (const sk of ['CONFIG', 'DELIVERY']) {
    const key = { TableName: tableName('webhooks'), Key: { pk: 'CLIENT#1001', sk } };
    await documentClient.send(new DeleteCommand(key));
  }
  // One of the receipts tells of a paused template, and its hold would stop the next file (D46).
  await documentClient.send(new DeleteCommand({ TableName: tableName('messages'), Key: holdsKey(waba) }));
});

test('one whose answer was lost is unknown until its receipt comes', async () => {
  const row = await rowOf('15550000200', 'unknown');
  expect(row).toMatchObject({ code: 'no_answer' });
  expect(row).not.toHaveProperty('platform_message_id');
});

describe('what the platform tells later is in the report and in the client’s webhook', () => {
  test.each(fates)('$what: $ending.state', async ({ to, ending, told = [] }) => {
    const row = await rowOf(to, ending['state']);
    expect(row).toMatchObject({ to, ...ending });
    if (ending['code'] === undefined) expect(row).not.toHaveProperty('code');
    const isTaken = to !== '15550231026' && ending['state'] !== 'unknown';
    const { body } = await platform(`GET /_control/messages?to=${to}&limit=1`);
    expect(row['platform_message_id']).toBe(isTaken ? body.data[0].id : undefined);

    await eventually('every event is there', async () =>
      told.every((type) => toldOf(messageIdOf(to)).some((event) => event.type === type)) ? true : undefined,
    );
    const failure = toldOf(messageIdOf(to)).find(({ type }) => type === 'message.failed');
    if (failure !== undefined) expect(failure.data).toMatchObject({ to, code: row['code'], reason: row['reason'] });
  });

  test('the counts are those of the rows, and no recipient is missing', async () => {
    const { total, counts, complete, data } = await report();
    expect([total, complete, data.length]).toEqual([fates.length, true, fates.length]);
    const ending = (state: string) => fates.filter((fate) => fate.ending['state'] === state).length;
    expect(counts).toEqual(Object.fromEntries(Object.keys(counts).map((state) => [state, ending(state)])));
  });

  test('each event is told under one id, and nothing else is told', () => {
    for (const { to, told = [] } of fates) {
      expect([
        to,
        toldOf(messageIdOf(to))
          .map(({ type }) => type)
          .sort(),
      ]).toEqual([to, told]);
    }
    expect(deliveries.every(({ verified }) => verified)).toBe(true);
    expect(deliveries.flatMap(({ body }) => eventFaults(body))).toEqual([]);
  });
});

/* Each test waits for the queue of receipts once, so receipts of one test are seen together. */
describe('what comes later still', () => {
  const delivered = '549240000002';
  const unclear = '549240000010';
  const bad = { status: 'failed', errors: [{ code: 131026, title: 'Undeliverable' }] };
  let read: Record<string, unknown>;

  test('carries a message on, however late; what is not ours to believe changes nothing', async () => {
    const timestamp = String(Math.floor((Date.now() - 2 * hourMs) / 1_000));
    const before = await rowOf(sentOnly, 'sent');
    await tell([sentOnly, { status: 'read', timestamp, id: before['platform_message_id'] }]);

    // The receipts are of a number that did not send, of an unknown index, and of an unknown dispatch.
    await tell([unclear, { status: 'sent' }, foreignNumberId], [delivered, bad, foreignNumberId]);
    const told = (to: string, status: object = {}) => statusOf(messageIdOf(to), { timestamp: nowSeconds(), ...status });
    const unsent = [`${dispatchId}-9999`, '01JD0000000000000000000000-0'].map((id) => statusOf(id, bad));
    const foreign = statusChange(foreignNumberId, told(delivered, bad));
    const unknown = webhookOf(waba, foreign, statusChange(phoneNumberId, ...unsent, told(marks[0])));
    expect((await api('POST /platform/webhook', signedWebhook(unknown))).status).toBe(200);

    // This webhook has another secret; the next names another WABA of the app and a foreign WABA.
    const change = statusChange(phoneNumberId, statusOf(messageIdOf(unclear), { status: 'read' }));
    const forged = signedWebhook(webhookOf(waba, change), 'another-app-secret');
    expect((await api('POST /platform/webhook', forged)).status).toBe(401);
    const elsewhere = [otherWaba, '299999999999999'].flatMap((wabaId) => webhookOf(wabaId, change).entry);
    const ours = webhookOf(waba, statusChange(phoneNumberId, told(marks[1])));
    const together = signedWebhook({ ...ours, entry: [...elsewhere, ...ours.entry] });
    expect((await api('POST /platform/webhook', together)).status).toBe(200);

    for (const mark of marks) await rowOf(mark, 'delivered');
    read = await rowOf(sentOnly, 'read');
    expect(read['updated_at']).toBe(new Date(Number(timestamp) * 1_000).toISOString());
    expect(await rowOf(unclear, 'unknown')).toMatchObject({ code: 'no_answer' });
    await rowOf(delivered, 'delivered');
  });

  test('takes nothing back, whatever it says; the first word that is ours settles the unknown one, told once', async () => {
    await tell(
      [sentOnly, { status: 'sent' }],
      [heldToTheEnd, { status: 'teleported' }],
      [unclear, { status: 'sent' }],
      [unclear, { status: 'sent' }],
      [neverTold, { status: 'delivered' }],
    );
    await rowOf(neverTold, 'delivered');
    expect(await rowOf(sentOnly, 'read')).toEqual(read);
    expect(await rowOf(heldToTheEnd, 'held')).toMatchObject({ code: 'paused' });
    expect(await rowOf(unclear, 'sent')).not.toHaveProperty('code');
    await eventually('that it is resolved is told', async () =>
      toldOf(messageIdOf(unclear)).some(({ type }) => type === 'message.resolved') ? true : undefined,
    );
  });

  test('a failure after a delivery is neither in the report nor told', async () => {
    await tell([neverTold, bad], [heldToTheEnd, bad], [unclear, { status: 'delivered' }]);
    await eventually('the other failure is told', async () =>
      toldOf(messageIdOf(heldToTheEnd)).some(({ type }) => type === 'message.failed') ? true : undefined,
    );
    await rowOf(heldToTheEnd, 'failed');
    await rowOf(unclear, 'delivered');
    await rowOf(neverTold, 'delivered');
    expect(toldOf(messageIdOf(neverTold))).toEqual([]);
    const types = toldOf(messageIdOf(unclear)).map(({ type }) => type);
    expect(types).toEqual(['message.unknown', 'message.resolved']);
  });
});
