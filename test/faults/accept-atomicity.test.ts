import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../lib/http/refusal.ts';
import { acceptanceStore } from '../../lib/messages/accept/acceptance-store.ts';
import { enqueueJob, enqueueStraight } from '../../lib/messages/accept/enqueue-job.ts';
import { jobQueue } from '../../lib/messages/accept/job-queue.ts';
import type { SendJob } from '../../lib/messages/accept/send-job.ts';
import { straightSend } from '../../lib/messages/accept/straight-send.ts';
import { jobStore } from '../../lib/messages/fan-out/job-store.ts';
import { dispatchIdsOf, drainJobs, drainMessages } from '../support/job-messages.ts';
import { type Attempt, type Fault, injectFaults } from '../support/queue-faults.ts';
import { makeJob, makeRecipients } from '../support/send-jobs.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';

const table = await freshTable('messages');
const documents = localDocumentClient();
const unused = { send: () => Promise.reject(new Error('not the queue of a job')) };
let jobs = 0;

interface Faults {
  readonly queue?: (attempt: Attempt) => Fault | Promise<Fault>;
  readonly table?: (attempt: Attempt) => Fault;
}

/** Runs one acceptance under faults; says what the client was told and what the fan-out will make of the queue. */
async function accept(job: Omit<SendJob, 'firstIndex' | 'part'>, faults: Faults, remainingMs = 29_000) {
  const queueUrl = await freshQueue();
  const client = localQueueClient();
  const faultyDocuments: DynamoDBDocumentClient = localDocumentClient();
  const queueAttempts = injectFaults(client, faults.queue ?? (() => undefined));
  const tableAttempts = injectFaults(faultyDocuments, faults.table ?? (() => undefined));
  let told = 'accepted';
  try {
    await enqueueJob(job, {
      queue: jobQueue(client, queueUrl),
      straightQueue: unused,
      urgentQueue: unused,
      acceptance: acceptanceStore(faultyDocuments, table, Date.now),
      remainingMs: () => remainingMs,
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    told = error.code;
  }
  const queued = await drainJobs(localQueueClient(), queueUrl);
  const sent = await dispatchIdsOf(queued, documents, table);
  return { told, sent: sent.size, queued: queued.length, queueAttempts, tableAttempts };
}

function job(recipients: number, textBytes = 40) {
  jobs += 1;
  return makeJob(makeRecipients(recipients, textBytes), { jobId: `job${jobs}` });
}

describe('with the queue failing at any attempt, all messages are accepted or none (R20)', () => {
  test.each([1, 10, 11, 1_000, ...(thorough ? [10_000] : [])])('%i recipients', async (count) => {
    for (const at of [1, 2, 3]) {
      for (const kind of ['before', 'after'] as const) {
        const once = await accept(job(count), { queue: ({ number }) => (number === at ? kind : undefined) });
        expect(once).toMatchObject({ told: 'accepted', sent: count });
        const from = await accept(job(count), { queue: ({ number }) => (number >= at ? kind : undefined) });
        expect(from).toMatchObject(
          at === 1 ? { told: 'dispatch_unavailable', sent: 0 } : { told: 'accepted', sent: count },
        );
      }
    }
  });

  test.runIf(thorough)('10,000 recipients in parts', async () => {
    const large = makeRecipients(10_000, 250);
    const inParts = () => {
      jobs += 1;
      return makeJob(large, { jobId: `job${jobs}` });
    };
    const whole = await accept(inParts(), {});
    expect(whole).toMatchObject({ told: 'accepted', sent: 10_000 });
    expect(whole.queueAttempts.length).toBeGreaterThan(1);
    for (const at of whole.queueAttempts.keys()) {
      for (const kind of ['before', 'after'] as const) {
        const broken = await accept(inParts(), { queue: ({ number }) => (number > at ? kind : undefined) });
        expect(broken).toMatchObject({ told: 'dispatch_unavailable', sent: 0 });
      }
    }
  });
});

/** The same of a request of one recipient: its message goes straight, and a worker begins its job or finds it taken back. */
async function acceptStraight(faults: Faults) {
  const queueUrl = await freshQueue();
  const client = localQueueClient();
  const faultyDocuments = localDocumentClient();
  injectFaults(client, faults.queue ?? (() => undefined));
  injectFaults(faultyDocuments, faults.table ?? (() => undefined));
  const straight = await straightSend(job(1), async () => 80);
  if (straight === undefined) throw new Error('it goes as a job');
  const told = await enqueueStraight(straight, {
    queue: unused,
    straightQueue: jobQueue(client, queueUrl),
    urgentQueue: unused,
    acceptance: acceptanceStore(faultyDocuments, table, Date.now),
    remainingMs: () => 29_000,
  }).then(
    () => 'accepted',
    (error: unknown) => (error instanceof Refusal ? error.code : Promise.reject(error)),
  );
  const { begin } = acceptanceStore(documents, table, Date.now);
  const begun: string[] = [];
  for (const message of await drainMessages(localQueueClient(), queueUrl)) begun.push(await begin(message));
  return { told, begun: new Set(begun) };
}

test('of one recipient, with the queue failing at any attempt: sent, or refused and never sent (R20)', async () => {
  for (const kind of ['before', 'after'] as const) {
    const once = await acceptStraight({ queue: ({ number }) => (number === 1 ? kind : undefined) });
    expect(once).toEqual({ told: 'accepted', begun: new Set(['begun']) });
    const ever = await acceptStraight({ queue: () => kind });
    const left = kind === 'before' ? [] : ['withdrawn'];
    expect(ever).toEqual({ told: 'dispatch_unavailable', begun: new Set(left) });
    const neither = await acceptStraight({ queue: () => kind, table: () => 'before' });
    expect(neither.told).toBe('dispatch_undecided');
  }
});

test('a job that is accepted takes one queue request and no table request', async () => {
  const { queueAttempts, tableAttempts } = await accept(job(10_000), {});
  expect(queueAttempts).toEqual([{ command: 'SendMessageCommand', number: 1 }]);
  expect(tableAttempts).toEqual([]);
});

test('a commit whose reply is lost for good is taken back', async () => {
  const lostCommit = ({ command }: Attempt): Fault => (command === 'PutItemCommand' ? 'after' : undefined);
  const { told, sent, queued } = await accept(job(10_000, 250), { table: lostCommit });
  expect([told, sent]).toEqual(['dispatch_unavailable', 0]);
  expect(queued).toBeGreaterThan(1);
});

test('when neither queue nor table can be asked, nobody claims to know', async () => {
  const { told } = await accept(job(10), { queue: () => 'after', table: () => 'before' });
  expect(told).toBe('dispatch_undecided');
});

test('a job that the fan-out has begun before its reply was found lost is accepted', async () => {
  const begun = job(10);
  const { told } = await accept(begun, {
    queue: async ({ number }): Promise<Fault> => {
      if (number > 1) await jobStore(documents, table).begin(begun.head, 1);
      return 'after';
    },
  });
  expect(told).toBe('accepted');
});

test('nothing is queued by an invocation that is about to end', async () => {
  const { told, queueAttempts } = await accept(job(10), {}, 12_999);
  expect(told).toBe('dispatch_unavailable');
  expect(queueAttempts).toEqual([]);
});
