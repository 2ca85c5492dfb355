import { describe, expect, test } from 'vitest';
import type { QueueEntry } from '../../../../lib/aws/sqs-batch.ts';
import type { SendJob } from '../../../../lib/messages/accept/send-job.ts';
import type { Claim } from '../../../../lib/messages/dispatch/claim.ts';
import { packBatches } from '../../../../lib/messages/fan-out/dispatch-queue.ts';
import { type FanOutPorts, fanOut } from '../../../../lib/messages/fan-out/fan-out.ts';
import type { WatchMessage } from '../../../../lib/messages/fan-out/watch-message.ts';
import type { DispatchMessage, JobHead, Recipient } from '../../../../lib/messages/job.ts';
import { seededRandom } from '../../../support/faults.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';

const startMs = 1_800_000_000_000;

function head(changes: Partial<JobHead> = {}): JobHead {
  return {
    jobId: 'J',
    clientId: 1001,
    did: '5491100000001',
    wabaId: '200000000000001',
    phoneNumberId: '300000000000001',
    credential: 'main',
    throughputPerSecond: 80,
    path: 'messages',
    templateName: 'order_update',
    templateLanguage: 'en_US',
    acceptedAtMs: startMs,
    total: 0,
    ...changes,
  };
}

function recipients(count: number): Recipient[] {
  return Array.from({ length: count }, (_, index) => ({ to: String(5_490_000_000_000 + index) }));
}

function jobOf(count: number, changes: Partial<SendJob> = {}): SendJob {
  return {
    head: head({ total: count }),
    plan: {} as SendJob['plan'],
    recipients: recipients(count),
    firstIndex: 0,
    ...changes,
  };
}

/** A queue, job records and claims in memory. */
function world(changes: Partial<FanOutPorts> = {}) {
  const queued: (DispatchMessage & { delaySeconds: number })[] = [];
  const batches: number[] = [];
  const failed: Claim[] = [];
  const events = new MemoryEvents();
  const watched: { message: WatchMessage; delaySeconds: number }[] = [];
  const progress = new Map<number, number>();
  const committed = new Set<string>();
  const accept = (entry: QueueEntry) => queued.push({ ...JSON.parse(entry.body), delaySeconds: entry.delaySeconds });
  const ports: FanOutPorts = {
    jobs: {
      isCommitted: async (jobId) => committed.has(jobId),
      begin: async (_, part) => progress.get(part) ?? 0,
      describe: async () => undefined,
      checkpoint: async (_, part, count) => void progress.set(part, count),
    },
    claims: {
      take: async (claim) => {
        failed.push(claim);
        return undefined;
      },
    },
    events,
    queue: {
      pack: packBatches,
      sendBatch: async (entries) => {
        batches.push(entries.length);
        for (const entry of entries) accept(entry);
        return [];
      },
    },
    watch: { sendLater: async (message, delaySeconds) => void watched.push({ message, delaySeconds }) },
    compose: (_, recipient, dispatchId) => ({ to: recipient.to, biz_opaque_callback_data: dispatchId }),
    nowMs: () => startMs,
    remainingMs: () => 60_000,
    random: () => 0,
    pause: async () => undefined,
    log: () => undefined,
    ...changes,
  };
  return { ports, queued, batches, failed, progress, committed, accept, events, watched };
}

test.each([1, 10, 11, 1_000, 10_000])('%i recipients become as many messages, in tens, none twice', async (count) => {
  const { ports, queued, batches } = world();
  expect(await fanOut(jobOf(count), startMs, ports)).toEqual({ end: 'done' });
  expect(queued.map(({ index }) => index).sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
  expect(batches).toHaveLength(Math.ceil(count / 10));
});

test('a message carries what a worker needs, under its own dispatch id and at its number’s pace', async () => {
  const { ports, queued } = world();
  const told = { campaignId: 10, attends: { waitTime: -1 } };
  await fanOut(
    jobOf(200, { head: head({ total: 200, expiresAtMs: startMs + 1, receiptsExpected: true, ...told }) }),
    startMs,
    ports,
  );
  expect(queued.find(({ index }) => index === 165)).toEqual({
    jobId: 'J',
    index: 165,
    clientId: 1001,
    phoneNumberId: '300000000000001',
    credential: 'main',
    path: 'messages',
    acceptedAtMs: startMs,
    expiresAtMs: startMs + 1,
    attempt: 0,
    receiptsExpected: true,
    about: { did: '5491100000001', template: { name: 'order_update', language: 'en_US' }, ...told },
    request: { to: '5490000000165', biz_opaque_callback_data: 'J-165' },
    delaySeconds: 2,
  });
});

test('entries that the queue refuses are sent again until all are in, others only once', async () => {
  const random = seededRandom(7);
  const { ports, queued, accept } = world();
  const sendBatch = async (entries: readonly QueueEntry[]) => {
    const refused = entries.filter(() => random() < 0.2);
    for (const entry of entries) if (!refused.includes(entry)) accept(entry);
    return refused;
  };
  expect(await fanOut(jobOf(300), startMs, { ...ports, queue: { pack: packBatches, sendBatch } })).toEqual({
    end: 'done',
  });
  expect(new Set(queued.map(({ index }) => index)).size).toBe(300);
  expect(queued).toHaveLength(300);
});

test('a queue that keeps refusing fails the job; its redelivery starts at the checkpoint', async () => {
  const { ports, queued, accept, progress } = world();
  let calls = 0;
  const breaking = async (entries: readonly QueueEntry[]) => {
    calls += 1;
    if (calls > 100) return entries;
    for (const entry of entries) accept(entry);
    return [];
  };
  const broken = { ...ports, queue: { pack: packBatches, sendBatch: breaking } };
  await expect(fanOut(jobOf(2_000), startMs, broken)).rejects.toThrow('refused');
  expect(progress.get(1)).toBe(1_000);
  await fanOut(jobOf(2_000), startMs, ports);
  expect(new Set(queued.map(({ index }) => index)).size).toBe(2_000);
  expect(queued.length).toBe(2_000);
});

test('running out of time stops between waves and asks for the job again', async () => {
  const left = [40_000, 20_000, 14_999];
  const { ports, queued, progress } = world({ remainingMs: () => left.shift() ?? 0 });
  expect(await fanOut(jobOf(2_000), startMs, ports)).toEqual({ end: 'again', afterSeconds: 0 });
  expect(queued).toHaveLength(1_000);
  expect(progress.get(1)).toBe(1_000);
});

const composeExceptLast3: FanOutPorts['compose'] = (_, { to }) => {
  if (to.endsWith('3')) throw new TypeError('bug');
  return { to };
};

test('a recipient that cannot be composed ends failed and is told so, the others go', async () => {
  const { ports, queued, failed, events } = world({ compose: composeExceptLast3 });
  expect(await fanOut(jobOf(10), startMs, ports)).toEqual({ end: 'done' });
  expect(queued).toHaveLength(9);
  expect(failed).toMatchObject([{ key: { jobId: 'J', index: 3 }, state: 'failed', code: 'not_composable' }]);
  expect(events.sent).toMatchObject([
    {
      type: 'message.failed',
      clientId: 1001,
      data: { message_id: 'J-3', to: '5490000000003', code: 'not_composable' },
    },
  ]);
});

test('while that cannot be told the wave does not count as queued; the next delivery tells it with the same id', async () => {
  const { ports, progress, events } = world({ compose: composeExceptLast3 });
  events.broken = true;
  await expect(fanOut(jobOf(10), startMs, ports)).rejects.toThrow('event queue');
  expect(progress.get(1)).toBeUndefined();
  events.broken = false;
  await fanOut(jobOf(10), startMs, ports);
  await fanOut(jobOf(10), startMs, { ...ports, jobs: { ...ports.jobs, begin: async () => 0 } });
  expect(events.sent).toHaveLength(2);
  expect(new Set(events.sent.map(({ id }) => id)).size).toBe(1);
});

const part = { number: 2, of: 2 };

test('a part whose commit is written goes out under the indexes of the whole job', async () => {
  const { ports, queued, committed, progress } = world();
  committed.add('J');
  await fanOut(jobOf(5, { part, firstIndex: 6_000 }), startMs, ports);
  expect(queued.map(({ index }) => index)).toEqual([6_000, 6_001, 6_002, 6_003, 6_004]);
  expect([...progress]).toEqual([[2, 5]]);
});

test.each([
  [1_000, { end: 'again', afterSeconds: 5 }],
  [10_000, { end: 'again', afterSeconds: 110 }],
  [119_999, { end: 'again', afterSeconds: 1 }],
  [120_000, { end: 'done' }],
])('a part without commit after %i ms: %j, and nothing is sent (D25)', async (ageMs, ending) => {
  const { ports, queued } = world({ nowMs: () => startMs + ageMs });
  expect(await fanOut(jobOf(5, { part }), startMs, ports)).toEqual(ending);
  expect(queued).toEqual([]);
});

test('a batch holds at most ten messages and 1 MiB', () => {
  const big = (kilobytes: number) => ({
    message: { clientId: 1, request: { to: 'x'.repeat(kilobytes * 1_024) } } as unknown as DispatchMessage,
    delaySeconds: 0,
  });
  const sizes = (kilobytes: readonly number[]) => packBatches(kilobytes.map(big)).map((batch) => batch.length);
  expect(sizes(Array(25).fill(1))).toEqual([10, 10, 5]);
  expect(sizes([400, 400, 400])).toEqual([2, 1]);
  expect(sizes([1_000, 1, 1, 1_000])).toEqual([3, 1]);
  expect(sizes([])).toEqual([]);
});

describe('the end of a job (D41)', () => {
  test('of several messages is watched for, from when the last of them can have left', async () => {
    const { ports, watched } = world();
    await fanOut(jobOf(801, { head: head({ total: 801, correlationId: 'request' }) }), startMs, ports);
    const message = {
      version: 1,
      jobId: 'J',
      clientId: 1001,
      acceptedAtMs: startMs,
      correlationId: 'request',
      final: [],
    };
    expect(watched).toEqual([{ message, delaySeconds: 15 }]);
  });

  test('of one message is for the message to tell; one with a dropped duplicate is counted by the report', async () => {
    const { ports, watched, queued } = world();
    await fanOut(jobOf(1), startMs, ports);
    expect([watched, queued.map(({ alone }) => alone)]).toEqual([[], [true]]);
    await fanOut(jobOf(1, { repeats: [[1, 0]] }), startMs, { ...ports, jobs: { ...ports.jobs, begin: async () => 0 } });
    expect([watched.length, queued.map(({ alone }) => alone)]).toEqual([1, [true, undefined]]);
  });

  test('of one message that cannot be composed is told here, before its checkpoint', async () => {
    const compose = () => {
      throw new Error('no');
    };
    const { ports, events, progress } = world({ compose });
    events.broken = true;
    await expect(fanOut(jobOf(1), startMs, ports)).rejects.toThrow();
    expect(progress.size).toBe(0);
    events.broken = false;
    await fanOut(jobOf(1), startMs, ports);
    expect(events.sent.map(({ type }) => type)).toEqual(['message.failed', 'dispatch.completed']);
    expect(events.sent[1]?.data).toMatchObject({ job_id: 'J', total: 1, counts: { failed: 1, pending: 0 } });
  });

  test('of a job in parts is watched for by its last part alone', async () => {
    const { ports, watched, committed } = world();
    committed.add('J');
    const part = (number: number) => jobOf(2, { head: head({ total: 4 }), part: { number, of: 2 } });
    await fanOut(part(2), startMs, ports);
    await fanOut(part(1), startMs, ports);
    expect(watched).toHaveLength(1);
  });

  test('is watched for once more when the fan-out is repeated, and the job comes again when nobody could be found', async () => {
    const { ports, watched } = world();
    await fanOut(jobOf(2), startMs, ports);
    const refusing = { sendLater: () => Promise.reject(new Error('no queue')) };
    await expect(fanOut(jobOf(2), startMs, { ...ports, watch: refusing })).rejects.toThrow('no queue');
    await fanOut(jobOf(2), startMs, ports);
    expect(watched).toHaveLength(2);
  });
});
