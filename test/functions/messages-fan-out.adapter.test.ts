import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { beforeEach, expect, test } from 'vitest';
import { messagesFanOut } from '../../functions/messages-fan-out.ts';
import { type AcceptedJobs, acceptedJobsStore } from '../../lib/messages/accept/accepted-jobs-store.ts';
import { encodeJob, type JobMessage } from '../../lib/messages/accept/job-message.ts';
import { parameterStore } from '../../lib/messages/accept/parameter-store.ts';
import { sliceStore } from '../../lib/messages/dispatch/claims/slice-store.ts';
import type { JobRounds } from '../../lib/messages/fan-out/job-rounds.ts';
import { jobRoundsStore } from '../../lib/messages/fan-out/job-rounds-store.ts';
import { asAccepted } from '../../lib/messages/fan-out/revalidate-job.ts';
import { waveQueue } from '../../lib/messages/fan-out/wave-queue.ts';
import { jobStateStore } from '../../lib/messages/job-state-store.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { countedBy } from '../support/counted.ts';
import { drainChunks } from '../support/job-messages.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { memoryPaces } from '../support/memory-numbers.ts';
import { noCosts } from '../support/no-costs.ts';
import { makeJob, makeRecipients } from '../support/send-jobs.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../support/stores.ts';

const nowMs = 1_800_000_000_000;
const context = { getRemainingTimeInMillis: () => 60_000 } as Context;
const { signal } = new AbortController();
const total = 11;
let queueUrl: string;
let postponed: [string, number][];
let accepted: AcceptedJobs;
let store: (jobId: string) => Promise<void>;
let rounds: JobRounds;
let sentAgain: [JobMessage, number][];
let handle: (event: SQSEvent, context: Context) => Promise<unknown>;

beforeEach(async () => {
  const table = await freshTable('messages');
  queueUrl = await freshQueue();
  postponed = [];
  sentAgain = [];
  const client = localDocumentClient();
  const parameters = parameterStore(client, table);
  accepted = acceptedJobsStore(client, table, () => nowMs);
  store = async (jobId) => {
    const job = makeJob(makeRecipients(total), { jobId, acceptedAtMs: nowMs });
    await parameters.store(job, signal);
    await accepted.describe(job, signal);
  };
  const { find, begin } = accepted;
  rounds = jobRoundsStore({ client, table }, { find, begin, recipientsFrom: parameters.read });
  handle = fanOutOn(client, table);
});

function fanOutOn(client: DynamoDBDocumentClient, table: string): typeof handle {
  return messagesFanOut({
    jobs: rounds,
    states: jobStateStore(client, table),
    slices: sliceStore({ client, table, nowMs: () => nowMs }),
    events: new MemoryEvents(),
    queue: waveQueue(localQueueClient(), queueUrl),
    paces: memoryPaces(),
    limitOf: async () => 1_000,
    watch: { sendLater: async () => undefined },
    postpone: async (receiptHandle, seconds) => void postponed.push([receiptHandle, seconds]),
    sendAgain: async (job, delaySeconds) => void sentAgain.push([job, delaySeconds]),
    judge: async (job) => asAccepted(job),
    costStop: noCosts.costStop,
    countNow: noCosts.countNow,
    compose: composeMessage,
    nowMs: () => nowMs,
    random: () => 0,
    pause: async () => undefined,
    log: () => undefined,
  });
}

function record(name: string, body: string, deliveries = 1): SQSRecord {
  return {
    messageId: name,
    receiptHandle: `receipt of ${name}`,
    body,
    attributes: { SentTimestamp: String(nowMs - 1_000), ApproximateReceiveCount: String(deliveries) },
  } as SQSRecord;
}

function jobRecord(name: string, jobId: string): SQSRecord {
  return record(name, encodeJob({ jobId, clientId: 1001, acceptedAtMs: nowMs }));
}

async function queuedRecipients(): Promise<string[]> {
  const chunks = await drainChunks(localQueueClient(), queueUrl);
  return chunks.flatMap(({ jobId, slices }) =>
    slices.flatMap(({ recipients }) => recipients.map(({ index, request }) => `${jobId}-${index} ${request?.['to']}`)),
  );
}

const all = (jobId: string) => makeRecipients(total).map(({ to }, index) => `${jobId}-${index} ${to}`);

test('a job that cannot be read fails alone; the other is fanned out', async () => {
  await store('A');
  const event = { Records: [record('poison', '{'), jobRecord('good', 'A')] };
  expect(await handle(event, context)).toEqual({ batchItemFailures: [{ itemIdentifier: 'poison' }] });
  expect(await queuedRecipients()).toEqual(all('A'));
});

test.each([
  [1, 30, 0],
  [2, 180, 0],
  [3, 1_080, 1],
  [4, 6_480, 1],
])(
  'after failed delivery %i a job comes again in %i s, not after the visibility time-out; from the third on it is counted',
  async (deliveries, seconds, times) => {
    const lines = await countedBy(() => handle({ Records: [record('poison', '{', deliveries)] }, context));
    expect(postponed).toEqual([['receipt of poison', seconds]]);
    expect(lines.filter((line) => line['RoundsFailedAgain'] === 1)).toHaveLength(times);
  },
);

test('a delivery is held for a minute from the start of its run', async () => {
  await store('A');
  await handle({ Records: [jobRecord('good', 'A')] }, context);
  expect(postponed).toEqual([['receipt of good', 60]]);
});

test('a job that was taken back, or never stored, is dropped', async () => {
  await store('B');
  expect(await accepted.withdraw('B')).toBe('withdrawn');
  const event = { Records: [jobRecord('withdrawn', 'B'), jobRecord('unknown', 'NONE')] };
  expect(await handle(event, context)).toEqual({ batchItemFailures: [] });
  expect([await queuedRecipients(), sentAgain]).toEqual([[], []]);
});

test('without time for a wave what is left is sent again at once, and this delivery is done with', async () => {
  await store('C');
  const hurried = { getRemainingTimeInMillis: () => 14_999 } as Context;
  expect(await handle({ Records: [jobRecord('late', 'C')] }, hurried)).toEqual({ batchItemFailures: [] });
  expect(sentAgain).toMatchObject([[{ jobId: 'C', round: 1 }, 0]]);
  expect(await queuedRecipients()).toEqual([]);
});

test('a message of a round that is over is dropped, and one whose round another run holds waits as a new message', async () => {
  await store('D');
  await handle({ Records: [jobRecord('first', 'D')] }, context);
  await handle({ Records: [jobRecord('again', 'D')] }, context);
  expect([await queuedRecipients(), sentAgain]).toEqual([all('D'), []]);
  await store('E');
  await accepted.begin({ ...makeJob([], { jobId: 'E' }), repeats: [] });
  await rounds.take({ jobId: 'E', round: 0, owner: 'another run' }, nowMs);
  expect(await handle({ Records: [jobRecord('second', 'E')] }, context)).toEqual({ batchItemFailures: [] });
  expect(sentAgain).toMatchObject([[{ jobId: 'E' }, 45]]);
  expect(await queuedRecipients()).toEqual([]);
});
