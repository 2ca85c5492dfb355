import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { beforeEach, expect, test } from 'vitest';
import { messagesFanOut } from '../../functions/messages-fan-out.ts';
import type { SendJob } from '../../lib/messages/accept/send-job.ts';
import { dispatchStore } from '../../lib/messages/dispatch/dispatch-store.ts';
import { dispatchQueue } from '../../lib/messages/fan-out/dispatch-queue.ts';
import type { JobRecords } from '../../lib/messages/fan-out/fan-out.ts';
import { jobStore } from '../../lib/messages/fan-out/job-store.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { memoryPaces } from '../support/memory-paces.ts';
import { makeJobHead } from '../support/send-jobs.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../support/stores.ts';

const nowMs = 1_800_000_000_000;
const context = { getRemainingTimeInMillis: () => 60_000 } as Context;
let queueUrl: string;
let postponed: [string, number][];
let records: JobRecords;
let sentAgain: [SendJob, number][];
let handle: (event: SQSEvent, context: Context) => Promise<unknown>;

beforeEach(async () => {
  const table = await freshTable('messages');
  queueUrl = await freshQueue();
  postponed = [];
  sentAgain = [];
  const client = localDocumentClient();
  records = jobStore(client, table);
  handle = messagesFanOut({
    jobs: records,
    claims: dispatchStore({ client, table, nowMs: () => nowMs }),
    events: new MemoryEvents(),
    queue: dispatchQueue(localQueueClient(), queueUrl),
    urgentQueue: dispatchQueue(localQueueClient(), queueUrl),
    paces: memoryPaces(),
    demands: { tell: async (demand) => [demand] },
    workersPerSecond: 10_000,
    limitOf: async () => 1_000,
    watch: { sendLater: async () => undefined },
    postpone: async (receiptHandle, seconds) => void postponed.push([receiptHandle, seconds]),
    sendAgain: async (job, delaySeconds) => void sentAgain.push([job, delaySeconds]),
    compose: (_, recipient) => ({ to: recipient.to }),
    nowMs: () => nowMs,
    random: () => 0,
    pause: async () => undefined,
    log: () => undefined,
  });
});

function record(name: string, body: string | object, deliveries = 1): SQSRecord {
  return {
    messageId: name,
    receiptHandle: `receipt of ${name}`,
    body: typeof body === 'string' ? body : JSON.stringify({ version: 1, ...body }),
    attributes: { SentTimestamp: String(nowMs - 1_000), ApproximateReceiveCount: String(deliveries) },
  } as SQSRecord;
}

function jobOf(jobId: string, changes: object = {}): object {
  return {
    head: makeJobHead({ jobId, wabaId: '2', phoneNumberId: '3', acceptedAtMs: nowMs, total: 2 }),
    plan: { templateName: 'order_update', languageCode: 'en_US', buttons: [], cards: [] },
    recipients: [{ to: '5491100000010' }, { to: '5491100000011' }],
    firstIndex: 0,
    ...changes,
  };
}

async function queuedMessages(): Promise<number> {
  const { Messages = [] } = await localQueueClient().send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
  );
  return Messages.length;
}

test('a job that nobody can read fails alone; the other is fanned out', async () => {
  const event = { Records: [record('poison', '{'), record('good', jobOf('A'))] };
  expect(await handle(event, context)).toEqual({ batchItemFailures: [{ itemIdentifier: 'poison' }] });
  expect(await queuedMessages()).toBe(2);
});

test.each([
  [1, 30],
  [2, 180],
  [4, 6_480],
])(
  'after failed delivery %i a job comes again in %i s, not after the visibility time-out',
  async (deliveries, seconds) => {
    await handle({ Records: [record('poison', '{', deliveries)] }, context);
    expect(postponed).toEqual([['receipt of poison', seconds]]);
  },
);

test('a delivery is held for a minute from the start of its run', async () => {
  await handle({ Records: [record('good', jobOf('A'))] }, context);
  expect(postponed).toEqual([['receipt of good', 60]]);
});

test('a part without its commit comes again soon and sends nothing', async () => {
  const event = { Records: [record('part', jobOf('B', { part: { number: 1, of: 2 } }))] };
  expect(await handle(event, context)).toEqual({ batchItemFailures: [{ itemIdentifier: 'part' }] });
  expect(postponed.at(-1)).toEqual(['receipt of part', 5]);
  expect(await queuedMessages()).toBe(0);
});

test('without time for a wave what is left is sent anew at once, and this delivery is done with', async () => {
  const hurried = { getRemainingTimeInMillis: () => 14_999 } as Context;
  const event = { Records: [record('late', jobOf('C'))] };
  expect(await handle(event, hurried)).toEqual({ batchItemFailures: [] });
  expect(sentAgain).toMatchObject([[{ head: { jobId: 'C' }, firstIndex: 0, round: 1 }, 0]]);
  expect(await queuedMessages()).toBe(0);
});

test('a message of a round that is over is dropped, and one whose round another run holds waits as a new message', async () => {
  await handle({ Records: [record('first', jobOf('D'))] }, context);
  await handle({ Records: [record('again', jobOf('D'))] }, context);
  expect([await queuedMessages(), sentAgain]).toEqual([2, []]);
  const run = { jobId: 'E', part: 1, round: 0, owner: 'another run' };
  const { head } = jobOf('E') as SendJob;
  await records.begin(head, 1);
  await records.take(run, nowMs);
  expect(await handle({ Records: [record('second', jobOf('E'))] }, context)).toEqual({ batchItemFailures: [] });
  expect(sentAgain).toMatchObject([[{ head: { jobId: 'E' } }, 45]]);
  expect(await queuedMessages()).toBe(0);
});
