import { randomBytes, randomUUID } from 'node:crypto';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { delayedQueue } from '../../../../lib/aws/sqs-batch.ts';
import { webhookConfigStore } from '../../../../lib/webhooks/config/config-store.ts';
import { configure } from '../../../../lib/webhooks/config/configure.ts';
import { type SealingKeySet, secretOpener } from '../../../../lib/webhooks/config/sealing.ts';
import { backlogStore } from '../../../../lib/webhooks/delivery/backlog-store.ts';
import { deliverBatch } from '../../../../lib/webhooks/delivery/deliver.ts';
import { deliveryStateStore } from '../../../../lib/webhooks/delivery/delivery-state-store.ts';
import { failingEvent } from '../../../../lib/webhooks/delivery/failing-event.ts';
import { decodeQueued, encodeWake, type Pending, payloadOf } from '../../../../lib/webhooks/delivery/pending.ts';
import { postPublic } from '../../../../lib/webhooks/delivery/post-network.ts';
import { receiversIn } from '../../../../lib/webhooks/delivery/receivers.ts';
import type { ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { encodeEvent } from '../../../../lib/webhooks/event-queue.ts';
import { eventRecordStore } from '../../../../lib/webhooks/event-record-store.ts';
import { makeEvent } from '../../../support/delivery-world.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../../../support/stores.ts';
import { type Answer, type Receiver, startReceiver } from '../../../support/tls-receiver.ts';

const client = localDocumentClient();
const table = await freshTable('webhooks');
const configs = webhookConfigStore(client, table);
const states = deliveryStateStore({ client, table, pause: async () => undefined });
const keys: SealingKeySet = {
  keys: [{ kty: 'oct', kid: 'key', k: randomBytes(32).toString('base64url'), added_at: 0 }],
};
const sealingKeys = async () => keys;
const list = backlogStore(client, table);
const records = eventRecordStore(client, table);
const sqs = localQueueClient();
const beganMs = Date.now();
let nowMs = beganMs;
let clientId = 1000;
let queueUrl: string;
let answer: Answer;
let receiver: Receiver;

beforeEach(async () => {
  clientId += 1;
  nowMs = beganMs;
  queueUrl = await freshQueue();
  receiver = await startReceiver((response, received) => answer(response, received));
});
afterEach(() => receiver.close());

async function subscribe({ rotate = false, url = receiver.url } = {}): Promise<string> {
  const change = { clientId, url, active: undefined, nowMs };
  const { secret } = await configure(
    { configs, sealingKeys, randomBytes, wake: async () => undefined },
    change,
    rotate,
  );
  return secret ?? '';
}

/** Posts one batch of these events over TLS to the receiver on this machine, with the real state store. */
async function deliver(...events: readonly ServiceEvent[]): Promise<string[]> {
  return await deliverBodies(...events.map(encodeEvent));
}

async function deliverBodies(...bodies: readonly string[]): Promise<string[]> {
  const deliveries = bodies.map((body, at) => ({ messageId: String(at), body }));
  return await deliverBatch(deliveries, {
    records,
    receivers: receiversIn(configs, secretOpener(sealingKeys), () => nowMs),
    states,
    list,
    // The wake is visible at once.
    queue: {
      sendLater: (woken) => delayedQueue({ client: sqs, url: queueUrl }, encodeWake, String).sendLater(woken, 0),
    },
    post: (post) => postPublic({ ...post, totalMs: 500 }, () => receiver.network),
    newOwner: randomUUID,
    nowMs: () => nowMs,
    remainingMs: () => 60_000,
    random: () => 0.5,
    log: () => undefined,
  });
}

async function waiting() {
  const waiting: Pending[] = [];
  for await (const page of list.pages(clientId)) waiting.push(...page.filter((pending) => pending !== undefined));
  return waiting;
}

async function wakes() {
  const receive = new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 });
  const { Messages = [] } = await sqs.send(receive);
  return Messages.map(({ Body = '' }) => decodeQueued(Body));
}

test('an event arrives, and both secrets of a rotation verify it', async () => {
  const old = await subscribe();
  const current = await subscribe({ rotate: true });
  answer = (response) => response.writeHead(204).end();
  expect(await deliver(makeEvent(clientId))).toEqual([]);
  const [received] = receiver.received;
  for (const secret of [old, current]) {
    const headers = Object.fromEntries(
      Object.entries(received?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    expect(new Webhook(secret).verify(received?.body ?? '', headers)).toMatchObject({ type: 'template.created' });
  }
  expect([await waiting(), await wakes()]).toEqual([[], []]);
});

// What else a receiver answers is in post-network.test.ts and delivery-state.test.ts.
test.each<[string, Answer, number]>([
  ['429 with Retry-After', (response) => response.writeHead(429, { 'retry-after': '90' }).end(), 90_000],
  ['silence', () => undefined, 5_000],
])(
  '%s: the event waits, its neighbour too but uncounted, and the client is paused until a wake; then both arrive',
  async (_, answered, dueInMs) => {
    await subscribe();
    answer = answered;
    const [first, second] = [makeEvent(clientId, 1), makeEvent(clientId, 2)];
    expect(await deliver(first, second)).toEqual([]);
    expect(receiver.received).toHaveLength(1);
    expect(await waiting()).toMatchObject([
      { event: { id: second.id }, attempts: 0, dueMs: nowMs },
      { event: { id: first.id }, attempts: 1, dueMs: nowMs + dueInMs },
    ]);
    const { state } = await states.change(clientId, () => undefined);
    expect(state).toMatchObject({ consecutiveFailures: 1, pausedUntilMs: nowMs + dueInMs, wakeAtMs: nowMs + dueInMs });
    expect(state.lease).toBeUndefined();
    expect(await wakes()).toEqual([{ wakeClientId: clientId }]);

    nowMs += dueInMs;
    answer = (response) => response.writeHead(204).end();
    expect(await deliverBodies(encodeWake(clientId))).toEqual([]);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([first.id, second.id, first.id]);
    expect([await waiting(), await wakes()]).toEqual([[], []]);
  },
);

test('failures for 15 minutes are told by a recorded event, here at the next address of the client (D34)', async () => {
  await subscribe();
  answer = (response) => response.writeHead(500).end();
  const told = failingEvent(clientId, nowMs);
  await deliver(makeEvent(clientId, 1), makeEvent(clientId, 2));
  for (const minutes of [5, 10]) {
    nowMs += minutes * 60_000;
    await deliverBodies(encodeWake(clientId));
  }
  const recorded: ServiceEvent[] = [];
  for await (const page of records.pages(clientId, { sinceMs: beganMs, untilMs: nowMs })) recorded.push(...page);
  expect(recorded.filter(({ type }) => type === 'webhook.failing')).toEqual([told]);

  await subscribe({ url: `${receiver.url}&next` });
  answer = (response) => response.writeHead(204).end();
  await deliverBodies(encodeWake(clientId));
  const { path, body = '' } = receiver.received.find(({ headers }) => headers['webhook-id'] === told.id) ?? {};
  expect([path, JSON.parse(body)]).toEqual(['/hook?a=1&next', JSON.parse(payloadOf(told))]);
});

test('410 switches the configuration off', async () => {
  await subscribe();
  answer = (response) => response.writeHead(410).end();
  expect(await deliver(makeEvent(clientId, 1), makeEvent(clientId, 2))).toEqual([]);
  expect(await configs.findConfig(clientId)).toMatchObject({ active: false, disabledReason: 'gone' });
  expect([receiver.received.length, await waiting(), await wakes()]).toEqual([1, [], []]);
});
