import { randomUUID } from 'node:crypto';
import {
  type Message,
  ReceiveMessageCommand,
  type SendMessageBatchCommandInput,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { beforeEach, describe, expect, test } from 'vitest';
import type { SendJob } from '../../../../lib/messages/accept/send-job.ts';
import { dispatchStore } from '../../../../lib/messages/dispatch/dispatch-store.ts';
import { dispatchQueue } from '../../../../lib/messages/fan-out/dispatch-queue.ts';
import { type FanOutPorts, fanOut } from '../../../../lib/messages/fan-out/fan-out.ts';
import { jobStore } from '../../../../lib/messages/fan-out/job-store.ts';
import { DispatchMessageSchema } from '../../../../lib/messages/job.ts';
import { injectFaults, seededFaults } from '../../../support/faults.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { memoryPaces } from '../../../support/memory-paces.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../../../support/stores.ts';

let table: string;
let queueUrl: string;

beforeEach(async () => {
  table = await freshTable('messages');
  queueUrl = await freshQueue();
});

function portsOver(sqs: SQSClient, client: DynamoDBDocumentClient): FanOutPorts {
  return {
    jobs: jobStore(client, table),
    claims: dispatchStore({ client, table, nowMs: Date.now }),
    events: new MemoryEvents(),
    queue: dispatchQueue(sqs, queueUrl),
    urgentQueue: dispatchQueue(sqs, queueUrl),
    paces: memoryPaces(),
    demands: { tell: async (demand) => [demand] },
    workersPerSecond: 10_000,
    limitOf: async () => 1_000,
    watch: { sendLater: async () => undefined },
    sendAgain: async () => undefined,
    hold: async () => undefined,
    compose: (_, recipient) => ({ to: recipient.to }),
    nowMs: Date.now,
    remainingMs: () => 60_000,
    random: () => 0,
    pause: async () => undefined,
    log: () => undefined,
  };
}

/** Another run of the function each time. */
function fannedOut(job: SendJob, ports: FanOutPorts) {
  return fanOut({ job, sentAtMs: Date.now(), owner: randomUUID() }, ports);
}

function jobOf(count: number, changes: Partial<SendJob> = {}): SendJob {
  const head: SendJob['head'] = {
    jobId: 'J',
    clientId: 1001,
    did: '5491100000001',
    wabaId: '2',
    phoneNumberId: '3',
    credential: 'main',
    throughputPerSecond: 100_000,
    path: 'messages',
    templateName: 'order_update',
    templateLanguage: 'en_US',
    acceptedAtMs: Date.now(),
    attends: { waitTime: -1 },
    total: count,
  };
  const recipients = Array.from({ length: count }, (_, index) => ({ to: `${5_490_000_000_000 + index}` }));
  return { head, plan: {} as SendJob['plan'], recipients, firstIndex: 0, ...changes };
}

async function drained(): Promise<Message[]> {
  const client = localQueueClient();
  const all: Message[] = [];
  for (;;) {
    const { Messages } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All'] }),
    );
    if (Messages === undefined || Messages.length === 0) return all;
    all.push(...Messages);
  }
}

async function queuedIndexes(): Promise<number[]> {
  return (await drained()).map(({ Body }) => v.parse(DispatchMessageSchema, JSON.parse(Body ?? '')).index);
}

test('a job arrives in the queue once, every message in its client’s group', async () => {
  const sqs = localQueueClient();
  const groups: (string | undefined)[] = [];
  // Seen where it leaves: the emulator forgets the group of a message of a standard queue.
  sqs.middlewareStack.add(
    (next) => (args) => {
      const { Entries } = args.input as SendMessageBatchCommandInput;
      groups.push(...(Entries ?? []).map(({ MessageGroupId }) => MessageGroupId));
      return next(args);
    },
    { step: 'initialize' },
  );
  await fannedOut(jobOf(1_234), portsOver(sqs, localDocumentClient()));
  expect(await drained()).toHaveLength(1_234);
  expect(groups).toEqual(Array(1_234).fill('1001'));
});

test('with refused entries, throttles and lost replies nothing is missing (R32)', async () => {
  const sqs = localQueueClient();
  injectFaults(
    sqs,
    seededFaults(11, 0.1, [{ kind: 'partial_batch', count: 4 }, { kind: 'throttle' }, { kind: 'lose_reply' }]),
  );
  await fannedOut(jobOf(300), portsOver(sqs, localDocumentClient()));
  const indexes = await queuedIndexes();
  // A lost reply doubles a batch: harmless, the claims decide. Nothing may be absent.
  expect([...new Set(indexes)].sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, index) => index));
});

test('a job whose queue breaks down is continued from its checkpoint', async () => {
  const breaking = localQueueClient();
  let batches = 0;
  injectFaults(breaking, ({ number }) => {
    if (number === 0) batches += 1;
    return batches > 60 ? { kind: 'partial_batch', count: 10 } : undefined;
  });
  const client = localDocumentClient();
  await expect(fannedOut(jobOf(1_000), portsOver(breaking, client))).rejects.toThrow('refused');
  const before = await queuedIndexes();
  await fannedOut(jobOf(1_000), portsOver(localQueueClient(), client));
  const after = await queuedIndexes();
  expect(Math.min(...after)).toBe(500);
  expect(new Set([...before, ...after]).size).toBe(1_000);
});

test('a part waits for the commit of its job', async () => {
  const client = localDocumentClient();
  const ports = portsOver(localQueueClient(), client);
  const job = jobOf(3, { part: { number: 1, of: 2 } });
  expect(await fannedOut(job, ports)).toEqual({ end: 'again', afterSeconds: 5 });
  await client.send(new PutCommand({ TableName: table, Item: { pk: 'JOB#J', sk: 'COMMIT' } }));
  expect(await fannedOut(job, ports)).toEqual({ end: 'done' });
  expect(await queuedIndexes()).toHaveLength(3);
});

describe('rounds', () => {
  const nowMs = 1_800_000_000_000;
  const run = (part: number, round: number, owner: string) => ({ jobId: 'J', part, round, owner });

  test('parts keep their own progress', async () => {
    const client = localDocumentClient();
    const jobs = jobStore(client, table);
    const { head } = jobOf(10);
    expect(await jobs.begin(head, 1)).toBe(0);
    expect(await jobs.take(run(1, 0, 'a'), nowMs)).toEqual({ kind: 'taken', queued: 0, state: {} });
    expect(await jobs.take(run(2, 0, 'b'), nowMs)).toEqual({ kind: 'taken', queued: 0, state: {} });
    expect(await jobs.checkpoint(run(1, 0, 'a'), 7, nowMs)).toEqual({});
    expect(await jobs.checkpoint(run(2, 0, 'b'), 3, nowMs)).toEqual({});
    expect([await jobs.begin(head, 1), await jobs.begin(head, 2), await jobs.begin(head, 3)]).toEqual([7, 3, 0]);
  });

  test('a round belongs to one run until it hands over or its lease ends', async () => {
    const jobs = jobStore(localDocumentClient(), table);
    await jobs.begin(jobOf(10).head, 1);
    const first = run(1, 0, 'a');
    expect(await jobs.take(first, nowMs)).toMatchObject({ kind: 'taken' });
    expect(await jobs.take(first, nowMs)).toMatchObject({ kind: 'taken' });
    expect(await jobs.take(run(1, 0, 'b'), nowMs + 44_999)).toEqual({ kind: 'held', untilMs: nowMs + 45_000 });
    expect(await jobs.take(run(1, 1, 'b'), nowMs + 44_999)).toEqual({ kind: 'held', untilMs: nowMs + 45_000 });
    expect(await jobs.checkpoint(first, 5, nowMs + 44_999)).toEqual({});
    expect(await jobs.take(run(1, 0, 'b'), nowMs + 45_000)).toMatchObject({ kind: 'held' });
    expect(await jobs.take(run(1, 0, 'b'), nowMs + 89_999)).toEqual({ kind: 'taken', queued: 5, state: {} });
    expect([await jobs.checkpoint(first, 9, nowMs), await jobs.handOver(first, 1)]).toEqual([undefined, false]);
    expect(await jobs.handOver(run(1, 0, 'b'), 1)).toBe(true);
    expect(await jobs.take(first, nowMs)).toEqual({ kind: 'over' });
    expect(await jobs.take(run(1, 1, 'c'), nowMs)).toEqual({ kind: 'taken', queued: 5, state: {} });
  });

  test('the next round is taken from a run that died before it handed over, once its lease has ended', async () => {
    const jobs = jobStore(localDocumentClient(), table);
    await jobs.begin(jobOf(10).head, 1);
    await jobs.take(run(1, 0, 'died'), nowMs);
    await jobs.checkpoint(run(1, 0, 'died'), 5, nowMs);
    const next = run(1, 1, 'b');
    expect(await jobs.take(next, nowMs + 44_999)).toEqual({ kind: 'held', untilMs: nowMs + 45_000 });
    expect(await jobs.take(next, nowMs + 45_000)).toEqual({ kind: 'taken', queued: 5, state: {} });
    expect(await jobs.take(run(1, 0, 'late'), nowMs + 100_000)).toEqual({ kind: 'over' });
  });

  test('handing over twice is handing over, for a reply that was lost', async () => {
    const jobs = jobStore(localDocumentClient(), table);
    await jobs.begin(jobOf(10).head, 1);
    await jobs.take(run(1, 0, 'a'), nowMs);
    expect([await jobs.handOver(run(1, 0, 'a'), 1), await jobs.handOver(run(1, 0, 'a'), 1)]).toEqual([true, true]);
  });

  test('a job that is forgotten is over', async () => {
    expect(await jobStore(localDocumentClient(), table).take(run(1, 4, 'a'), nowMs)).toEqual({ kind: 'over' });
  });
});

test('a job that the acceptance took back is dropped and cannot be found', async () => {
  const client = localDocumentClient();
  await client.send(new PutCommand({ TableName: table, Item: { pk: 'JOB#J', sk: 'JOB', withdrawnAtMs: 1 } }));
  expect(await fannedOut(jobOf(3), portsOver(localQueueClient(), client))).toEqual({ end: 'done' });
  expect(await queuedIndexes()).toEqual([]);
  const { Items } = await client.send(new ScanCommand({ TableName: table }));
  expect(Items).toEqual([{ pk: 'JOB#J', sk: 'JOB', withdrawnAtMs: 1 }]);
});
