import { describe, expect, test } from 'vitest';
import type { QueueEntry } from '../../../../lib/aws/sqs-batch.ts';
import { packBatches } from '../../../../lib/messages/fan-out/dispatch-queue.ts';
import type { FanOutPorts } from '../../../../lib/messages/fan-out/fan-out.ts';
import type { DispatchMessage } from '../../../../lib/messages/job.ts';
import { fannedOut, fanOutJob, fanOutStartMs, fanOutWorld, queueThat } from '../../../support/fan-out-world.ts';
import { seededRandom } from '../../../support/faults.ts';
import { emptyMemoryJob, memoryJobRecords } from '../../../support/memory-job-records.ts';

test.each([1, 10, 11, 1_000, 10_000])('%i recipients become as many messages, in tens, none twice', async (count) => {
  const { ports, queued, batches } = fanOutWorld();
  expect(await fannedOut(fanOutJob(count), ports)).toEqual({ end: 'done' });
  expect(queued.map(({ index }) => index).sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
  expect(batches).toHaveLength(Math.ceil(count / 10));
});

test('a message carries what a worker needs, under its own dispatch id and at its number’s pace', async () => {
  const { ports, queued } = fanOutWorld({ limitOf: async () => 80 });
  const told = { campaignId: 10, attends: { waitTime: -1 } };
  await fannedOut(
    fanOutJob(200, { head: { total: 200, expiresAtMs: fanOutStartMs + 1, receiptsExpected: true, ...told } }),
    ports,
  );
  expect(queued.find(({ index }) => index === 165)).toEqual({
    jobId: 'J',
    index: 165,
    clientId: 1001,
    phoneNumberId: '300000000000001',
    credential: 'main',
    path: 'messages',
    acceptedAtMs: fanOutStartMs,
    expiresAtMs: fanOutStartMs + 1,
    attempt: 0,
    attempts: {},
    receiptsExpected: true,
    about: { did: '5491100000001', template: { name: 'order_update', language: 'en_US' }, ...told },
    request: { to: '5490000000165', biz_opaque_callback_data: 'J-165' },
    version: 1,
    wabaId: '200000000000001',
    limitPerSecond: 80,
    turn: { lane: 'J', clientId: 1001, position: 165 },
    // Its slot is 2.3 s away, and it comes a second or two before.
    delaySeconds: 1,
  });
});

test('entries that the queue refuses are sent again until all are in, others only once', async () => {
  const random = seededRandom(7);
  const { ports, queued, accept } = fanOutWorld();
  const sendBatch = async (entries: readonly QueueEntry[]) => {
    const refused = entries.filter(() => random() < 0.2);
    for (const entry of entries) if (!refused.includes(entry)) accept(entry);
    return refused;
  };
  expect(await fannedOut(fanOutJob(300), { ...ports, queue: queueThat(sendBatch) })).toEqual({
    end: 'done',
  });
  expect(new Set(queued.map(({ index }) => index)).size).toBe(300);
  expect(queued).toHaveLength(300);
});

test('a queue that keeps refusing fails the job; its redelivery starts at the checkpoint', async () => {
  const { ports, queued, accept, progress } = fanOutWorld();
  let calls = 0;
  const breaking = async (entries: readonly QueueEntry[]) => {
    calls += 1;
    if (calls > 100) return entries;
    for (const entry of entries) accept(entry);
    return [];
  };
  const broken = { ...ports, queue: queueThat(breaking) };
  await expect(fannedOut(fanOutJob(2_000), broken)).rejects.toThrow('refused');
  expect(progress.get(1)).toBe(1_000);
  await fannedOut(fanOutJob(2_000), ports);
  expect(new Set(queued.map(({ index }) => index)).size).toBe(2_000);
  expect(queued.length).toBe(2_000);
});

test('running out of time ends the round between waves: what is left is sent anew, and goes on there', async () => {
  const left = [40_000, 15_000, 14_999];
  const { ports, queued, progress, sentAgain } = fanOutWorld({ remainingMs: () => left.shift() ?? 60_000 });
  const job = fanOutJob(2_000);
  expect(await fannedOut(job, ports)).toEqual({ end: 'done' });
  expect(sentAgain).toEqual([{ job: { ...job, round: 1 }, delaySeconds: 0 }]);
  expect([queued.length, progress.get(1)]).toEqual([1_000, 1_000]);
  await fannedOut({ ...job, round: 1 }, ports);
  expect(new Set(queued.map(({ index }) => index)).size).toBe(2_000);
  expect(queued).toHaveLength(2_000);
});

describe('rounds', () => {
  const owner = 'another run';
  const run = { jobId: 'J', part: 1, round: 0, owner };

  test('a message whose round is over is dropped', async () => {
    const { ports, job: stored, queued, sentAgain, watched } = fanOutWorld();
    stored.rounds.set(1, { round: 3, leaseUntilMs: 0 });
    expect(await fannedOut(fanOutJob(20, { round: 2 }), ports)).toEqual({ end: 'done' });
    expect(await fannedOut(fanOutJob(20), ports)).toEqual({ end: 'done' });
    expect([queued, sentAgain, watched]).toEqual([[], [], []]);
  });

  test.each([0, 1])(
    'one that comes while another run has the round, or the one before, waits for its lease (%i)',
    async (round) => {
      const { ports, queued, sentAgain } = fanOutWorld();
      await ports.jobs.take(run, fanOutStartMs);
      const job = fanOutJob(20, round === 0 ? {} : { round });
      expect(await fannedOut(job, ports)).toEqual({ end: 'done' });
      expect([queued, sentAgain]).toEqual([[], [{ job, delaySeconds: 45 }]]);
      await fannedOut(job, { ...ports, nowMs: () => fanOutStartMs + 45_000 });
      expect(queued).toHaveLength(20);
    },
  );

  test('a run whose round was taken from it stops, and leaves its message to the queue', async () => {
    const { ports, job: stored, queued, sentAgain, watched } = fanOutWorld();
    const hold = async () => undefined;
    const taken = {
      ...ports,
      hold,
      jobs: { ...ports.jobs, take: async () => ({ kind: 'taken', queued: 0, state: {} }) as const },
    };
    stored.rounds.set(1, { round: 0, owner, leaseUntilMs: fanOutStartMs });
    expect(await fannedOut(fanOutJob(2_000), taken)).toEqual({ end: 'again' });
    expect([queued.length, sentAgain, watched]).toEqual([500, [], []]);
  });

  test('a run whose lease is about to run out queues nothing more', async () => {
    let nowMs = fanOutStartMs;
    const { ports, queued } = fanOutWorld({ nowMs: () => nowMs });
    const slow = async (entries: readonly QueueEntry[]) => {
      nowMs += 10_000;
      for (const entry of entries) queued.push(JSON.parse(entry.body));
      return [];
    };
    await expect(fannedOut(fanOutJob(500), { ...ports, queue: queueThat(slow) })).rejects.toThrow('lease');
    // The fourth batch would leave with 15 s of the lease.
    expect(queued).toHaveLength(30);
  });

  test('a failed run lets go of its round, so that its next delivery need not wait', async () => {
    const { ports, job: stored } = fanOutWorld();
    const refusing = queueThat(async (entries) => entries);
    await expect(fannedOut(fanOutJob(20), { ...ports, queue: refusing })).rejects.toThrow('refused');
    expect(stored.rounds.get(1)).toEqual({ round: 0, leaseUntilMs: 0 });
  });

  test('while it works a run holds its delivery, anew when more than twenty seconds have gone', async () => {
    let nowMs = fanOutStartMs;
    const { ports, holds } = fanOutWorld({ nowMs: () => nowMs });
    const slow = async () => {
      nowMs += 200;
      return [];
    };
    await fannedOut(fanOutJob(3_500), { ...ports, queue: queueThat(slow) });
    expect(holds.map((atMs) => atMs - fanOutStartMs)).toEqual([0, 30_000, 60_000]);
  });
});

const composeExceptLast3: FanOutPorts['compose'] = (_, { to }) => {
  if (to.endsWith('3')) throw new TypeError('bug');
  return { to };
};

test('a recipient that cannot be composed ends failed and is told so, the others go', async () => {
  const { ports, queued, failed, events } = fanOutWorld({ compose: composeExceptLast3 });
  expect(await fannedOut(fanOutJob(10), ports)).toEqual({ end: 'done' });
  expect(queued).toHaveLength(9);
  expect(failed()).toMatchObject([{ key: { jobId: 'J', index: 3 }, state: 'failed', code: 'not_composable' }]);
  expect(events.sent).toMatchObject([
    {
      type: 'message.failed',
      clientId: 1001,
      data: { message_id: 'J-3', to: '5490000000003', code: 'not_composable' },
    },
  ]);
});

test('while that cannot be told the wave does not count as queued; the next delivery tells it with the same id', async () => {
  const { ports, progress, events } = fanOutWorld({ compose: composeExceptLast3 });
  events.broken = true;
  await expect(fannedOut(fanOutJob(10), ports)).rejects.toThrow('event queue');
  expect(progress.get(1)).toBeUndefined();
  events.broken = false;
  await fannedOut(fanOutJob(10), ports);
  await fannedOut(fanOutJob(10), { ...ports, jobs: memoryJobRecords(emptyMemoryJob()) });
  expect(events.sent).toHaveLength(2);
  expect(new Set(events.sent.map(({ id }) => id)).size).toBe(1);
});

const part = { number: 2, of: 2 };

test('a part whose commit is written goes out under the indexes of the whole job', async () => {
  const { ports, queued, committed, progress } = fanOutWorld();
  committed.add('J');
  await fannedOut(fanOutJob(5, { part, firstIndex: 6_000 }), ports);
  expect(queued.map(({ index }) => index)).toEqual([6_000, 6_001, 6_002, 6_003, 6_004]);
  expect([...progress]).toEqual([[2, 5]]);
});

test.each([
  [1_000, { end: 'again', afterSeconds: 5 }],
  [4_999, { end: 'again', afterSeconds: 5 }],
  [5_000, { end: 'again', afterSeconds: 115 }],
  [10_000, { end: 'again', afterSeconds: 110 }],
  [119_999, { end: 'again', afterSeconds: 1 }],
  [120_000, { end: 'done' }],
])('a part without commit after %i ms: %j, and nothing is sent (D25)', async (ageMs, ending) => {
  const { ports, queued } = fanOutWorld({ nowMs: () => fanOutStartMs + ageMs });
  expect(await fannedOut(fanOutJob(5, { part }), ports)).toEqual(ending);
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
    const { ports, watched } = fanOutWorld();
    await fannedOut(fanOutJob(801, { head: { total: 801, correlationId: 'request' } }), ports);
    const message = {
      version: 1,
      kind: 'running',
      jobId: 'J',
      clientId: 1001,
      acceptedAtMs: fanOutStartMs,
      correlationId: 'request',
      final: [],
    };
    expect(watched).toEqual([{ message, delaySeconds: 6 }]);
  });

  test('of one message is for the message to tell; one with a dropped duplicate is counted by the report', async () => {
    const { ports, watched, queued } = fanOutWorld();
    await fannedOut(fanOutJob(1), ports);
    expect([watched, queued.map(({ alone }) => alone)]).toEqual([[], [true]]);
    await fannedOut(fanOutJob(1, { repeats: [[1, 0]] }), { ...ports, jobs: memoryJobRecords(emptyMemoryJob()) });
    expect([watched.length, queued.map(({ alone }) => alone)]).toEqual([1, [true, undefined]]);
  });

  test('of one message that cannot be composed is told here, before its checkpoint', async () => {
    const compose = () => {
      throw new Error('no');
    };
    const { ports, events, progress } = fanOutWorld({ compose });
    events.broken = true;
    await expect(fannedOut(fanOutJob(1), ports)).rejects.toThrow();
    expect(progress.size).toBe(0);
    events.broken = false;
    await fannedOut(fanOutJob(1), ports);
    expect(events.sent.map(({ type }) => type)).toEqual(['message.failed', 'dispatch.completed']);
    expect(events.sent[1]?.data).toMatchObject({ job_id: 'J', total: 1, counts: { failed: 1, pending: 0 } });
  });

  test('of a job in parts is watched for by its last part alone', async () => {
    const { ports, watched, committed } = fanOutWorld();
    committed.add('J');
    const part = (number: number) => fanOutJob(2, { head: { total: 4 }, part: { number, of: 2 } });
    await fannedOut(part(1), ports);
    expect(watched).toEqual([]);
    await fannedOut(part(2), ports);
    expect(watched).toHaveLength(1);
  });

  test('is watched for when the job comes again, if nobody could be found at first, and once the part is done no more', async () => {
    const { ports, watched } = fanOutWorld();
    const refusing = { sendLater: () => Promise.reject(new Error('no queue')) };
    await expect(fannedOut(fanOutJob(2), { ...ports, watch: refusing })).rejects.toThrow('no queue');
    await fannedOut(fanOutJob(2), ports);
    await fannedOut(fanOutJob(2), ports);
    expect(watched).toHaveLength(1);
  });
});
