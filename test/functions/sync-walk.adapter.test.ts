import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { beforeEach, expect, test } from 'vitest';
import { templatesSyncWorker } from '../../functions/templates-sync-worker.ts';
import { delayedQueue } from '../../lib/aws/sqs-batch.ts';
import { PlatformFailure } from '../../lib/platform/failure.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { clockSkewMs, leaseMs } from '../../lib/templates/sync/sync-lock.ts';
import { syncLockStore } from '../../lib/templates/sync/sync-lock-store.ts';
import { encodeSync, type QueuedSync, syncDeliveries, syncGroup } from '../../lib/templates/sync/sync-message.ts';
import { walkDeadAfterMs } from '../../lib/templates/sync/sync-walk.ts';
import { syncWalkStore } from '../../lib/templates/sync/sync-walk-store.ts';
import { makeWaba, memoryDirectory } from '../support/directory.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { noTemplateHolds } from '../support/no-template-holds.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../support/stores.ts';

const clientIds = [1001, 1002, 1003];
const wabas = clientIds.map((id) => makeWaba({ wabaId: `20000000000${id}`, clientIds: [id] }));
const client = localDocumentClient();
const sqs = localQueueClient();

interface Message {
  readonly id: string;
  readonly body: string;
}

let table: string;
let queueUrl: string;
let now: number;
let events: MemoryEvents;
let delays: (readonly [turn: number, seconds: number])[];
beforeEach(async () => {
  [table, queueUrl] = await Promise.all([freshTable('templates'), freshQueue()]);
  now = 1_800_000_000_000;
  events = new MemoryEvents();
  delays = [];
});

const locks = () => syncLockStore(client, table);

type Probe = (waba: { wabaId: string }) => Promise<void>;

function worker({ probe = async () => undefined }: { readonly probe?: Probe } = {}) {
  const real = delayedQueue<QueuedSync>({ client: sqs, url: queueUrl }, encodeSync, syncGroup);
  return templatesSyncWorker({
    directory: memoryDirectory({ wabas, clientIds }),
    templates: templateStore(client, table),
    templateHolds: noTemplateHolds,
    platform: { probe, page: async () => ({ templates: [], unreadable: [] }) },
    refreshChannels: async () => 0,
    locks: locks(),
    walks: syncWalkStore(client, table),
    events,
    lockScope: 'deployment',
    queue: {
      sendLater: async (message, seconds) => {
        if (!('clientId' in message)) delays.push([message.walk.turn, seconds]);
        await real.sendLater(message, 0);
      },
    },
    nowMs: () => now,
    pause: async () => undefined,
  });
}

async function next(): Promise<Message | undefined> {
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: queueUrl, WaitTimeSeconds: 0 }));
  const [message] = Messages ?? [];
  if (message === undefined) return undefined;
  await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle }));
  return { id: message.MessageId ?? '', body: message.Body ?? '' };
}

const scheduled = (id: string, messageId = `message of ${id}`): Message => ({
  id: messageId,
  body: encodeSync({ walk: { id, turn: 0, after: 0 } }),
});

function work({ id, body }: Message, { run = worker(), deliveries = 1 } = {}) {
  const record = { messageId: id, body, attributes: { ApproximateReceiveCount: String(deliveries) } };
  return run({ Records: [record] } as SQSEvent, { getRemainingTimeInMillis: () => 300_000 });
}

/** Works off the queue; at most one message may wait at a time. */
async function workOff(run = worker()): Promise<void> {
  for (let message = await next(); message !== undefined; message = await next()) {
    expect(await next()).toBeUndefined();
    await work(message, { run });
  }
}

const synchronized = () => events.sent.map(({ clientId }) => clientId);

test('a scheduled walk synchronizes every client, one after another, and the next schedule walks again', async () => {
  await work(scheduled('first'));
  await workOff();
  expect(synchronized()).toEqual([1001, 1002, 1003]);
  await work(scheduled('second'));
  await workOff();
  expect(synchronized()).toEqual([1001, 1002, 1003, 1001, 1002, 1003]);
});

test('a schedule that fires while a walk is under way, or twice, starts nothing', async () => {
  await work(scheduled('first'));
  await work(scheduled('second'));
  await work(scheduled('first', 'its double'));
  await workOff();
  await work(scheduled('first', 'late double'));
  await workOff();
  expect(synchronized()).toEqual([1001, 1002, 1003]);
});

test("a user's synchronization delays the walk and does not break it", async () => {
  const held = await locks().acquire({ name: 'sync', owner: 'a user', contender: 'test', nowMs: now });
  await work(scheduled('first'));
  for (let look = 0; look < 3; look += 1) await work((await next()) as Message);
  expect(delays).toEqual([1, 2, 3, 4].map((turn) => [turn, 3]));
  expect(synchronized()).toEqual([]);
  if (held !== undefined) await locks().release(held, now);
  await workOff();
  expect(synchronized()).toEqual([1001, 1002, 1003]);
});

test('a user who was refused during the walk comes before the walk goes on, and the walk before the user again', async () => {
  const ask = (owner: string) => locks().acquire({ name: 'sync', owner, contender: 'client 1002', nowMs: now });
  await work(scheduled('first'));
  expect(await ask('too early')).toBeUndefined();
  await work((await next()) as Message);
  await work((await next()) as Message);
  expect(delays).toEqual([
    [1, 0],
    [2, 3],
  ]);
  const held = await ask('first');
  if (held === undefined) throw new Error('the user was refused');
  await locks().release(held, now);
  expect(await ask('again')).toBeUndefined();
  await work((await next()) as Message);
  await work((await next()) as Message);
  expect(synchronized()).toEqual([1001, 1002]);
});

const failingWith =
  (error: Error) =>
  async ({ wabaId }: { wabaId: string }) => {
    if (wabaId.endsWith('1002')) throw error;
  };

test('a client that the platform refuses is passed over', async () => {
  const run = worker({ probe: failingWith(new PlatformFailure('refused', { httpStatus: 401, code: 190 })) });
  await work(scheduled('first'), { run });
  await workOff(run);
  expect(synchronized()).toEqual([1001, 1003]);
});

test('a client whose synchronization fails is tried at every delivery, and passed over at the last', async () => {
  const run = worker({ probe: failingWith(new TypeError('a bug')) });
  await work(scheduled('first'), { run });
  await work((await next()) as Message, { run });
  const turn = (await next()) as Message;
  for (let deliveries = 1; deliveries < syncDeliveries; deliveries += 1) {
    await expect(work(turn, { run, deliveries })).rejects.toThrow('a bug');
    expect(await next()).toBeUndefined();
  }
  await work(turn, { run, deliveries: syncDeliveries });
  await workOff(run);
  expect(synchronized()).toEqual([1001, 1003]);
});

test('messages that are delivered again, or doubled, do not double the walk', async () => {
  let before = scheduled('first');
  await work(before);
  for (let message = await next(); message !== undefined; message = await next()) {
    await work(before);
    await work(message);
    await work({ ...message, id: `double of ${message.id}` });
    before = message;
  }
  expect(synchronized()).toEqual([1001, 1002, 1003]);
});

test('a turn whose worker died before it was acknowledged is taken again', async () => {
  const dying = worker({ probe: () => Promise.reject(new PlatformFailure('not_sent')) });
  const silent = { ...scheduled('first') };
  await work(silent, { run: dying });
  // The crash lost the successor, and the same message is redelivered.
  await next();
  await work(silent);
  await workOff();
  expect(synchronized()).toEqual([1001, 1002, 1003]);
});

test.each([
  ['the platform does not answer', new PlatformFailure('not_sent')],
  ['something is broken', new TypeError('a bug')],
])('a turn that comes again behind its queued work leaves the lock to it, although %s', async (_, failure) => {
  const turn = scheduled('first');
  await work(turn);
  const queued = (await next()) as Message;
  const failing = worker({ probe: () => Promise.reject(failure) });
  await work(turn, { run: failing, deliveries: syncDeliveries });
  expect(await locks().acquire({ name: 'sync', owner: 'a user', contender: 'client', nowMs: now })).toBeUndefined();
  await work(queued);
  expect(synchronized()).toEqual([1001]);
});

test('a synchronization that keeps failing is given up after its last delivery, and the walk goes on', async () => {
  await work(scheduled('first'));
  const message = (await next()) as Message;
  events.broken = true;
  for (let deliveries = 1; deliveries <= syncDeliveries; deliveries += 1) {
    expect(await next()).toBeUndefined();
    await expect(work(message, { deliveries })).rejects.toThrow('event queue');
  }
  events.broken = false;
  now += leaseMs + clockSkewMs + 1;
  await workOff();
  expect(synchronized()).toEqual([1002, 1003]);
});

test('a walk that has died makes room for the next one after two hours, and does not rise again', async () => {
  await work(scheduled('dead'));
  const lost = (await next()) as Message;
  now += walkDeadAfterMs;
  await work(scheduled('too early'));
  expect(await next()).toBeUndefined();
  now += 1;
  await work(scheduled('next'));
  await work(lost);
  for (let message = await next(); message !== undefined; message = await next()) await work(message);
  expect(synchronized()).toEqual([1001, 1002, 1003]);
});
