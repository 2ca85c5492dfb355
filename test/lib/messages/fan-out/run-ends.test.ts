import { describe, expect, test } from 'vitest';
import { PaceContended } from '../../../../lib/messages/pace/number-paces.ts';
import { fannedOut, fanOutJob, fanOutStartMs, fanOutWorld, queueThat } from '../../../support/fan-out-world.ts';

const facts = { jobId: 'J', clientId: 1001 };

describe('before its first round', () => {
  test('a job that its acceptance took back is dropped: nothing is taken, described or queued (D25)', async () => {
    const { ports, job, queued, sentAgain, logged } = fanOutWorld();
    const described: unknown[] = [];
    const jobs = {
      ...ports.jobs,
      begin: async () => undefined,
      describe: async (each: unknown) => void described.push(each),
    };
    expect(await fannedOut(fanOutJob(3), { ...ports, jobs })).toEqual({ end: 'done' });
    expect([job.rounds.size, described, queued, sentAgain]).toEqual([0, [], [], []]);
    expect(logged).toEqual([['job.withdrawn', facts]]);
  });

  test('a job is begun and described; a later round does neither, and looks for no commit', async () => {
    const { ports, queued } = fanOutWorld();
    const asked: unknown[] = [];
    const jobs = {
      ...ports.jobs,
      isCommitted: async (jobId: string) => asked.push(['isCommitted', jobId]) > 0,
      begin: async (_: unknown, part: number) => asked.push(['begin', part]),
      describe: async ({ recipients }: { recipients: readonly unknown[] }) =>
        void asked.push(['describe', recipients.length]),
    };
    const part = { number: 2, of: 2 };
    await fannedOut(fanOutJob(3, { part, round: 1 }), { ...ports, jobs });
    expect([asked, queued.length]).toEqual([[], 3]);
    await fannedOut(fanOutJob(3, { part }), { ...ports, jobs });
    expect(asked).toEqual([
      ['isCommitted', 'J'],
      ['begin', 2],
      ['describe', 3],
    ]);
  });

  test('a part whose commit never comes is dropped, and that is logged (D25)', async () => {
    const { ports, logged } = fanOutWorld({ nowMs: () => fanOutStartMs + 120_000 });
    await fannedOut(fanOutJob(3, { part: { number: 1, of: 2 } }), ports);
    expect(logged).toEqual([['job.never_accepted', facts]]);
  });
});

test.each([
  [45_000, 45],
  [1_001, 2],
  [1, 1],
  [-5_000, 1],
])('a round that another run holds for %i ms more is tried again after %i s', async (leftMs, delaySeconds) => {
  const { ports, sentAgain } = fanOutWorld();
  const held = { kind: 'held', untilMs: fanOutStartMs + leftMs } as const;
  const job = fanOutJob(3);
  expect(await fannedOut(job, { ...ports, jobs: { ...ports.jobs, take: async () => held } })).toEqual({ end: 'done' });
  expect(sentAgain).toEqual([{ job, delaySeconds }]);
});

test.each([
  ['done', 60_000],
  ['sent anew', 1],
])('a run that has lost its round when its job is %s leaves its message to the queue', async (_, leftMs) => {
  const { ports } = fanOutWorld({ remainingMs: () => leftMs });
  const jobs = { ...ports.jobs, handOver: async () => false };
  expect(await fannedOut(fanOutJob(3), { ...ports, jobs })).toEqual({ end: 'again' });
});

test('a job that is queued wholly is logged with its count', async () => {
  const { ports, logged } = fanOutWorld();
  await fannedOut(fanOutJob(11), ports);
  expect(logged).toEqual([['job.fanned_out', { ...facts, count: 11 }]]);
});

test('a failed run that cannot let go of its round fails as it did, and logs it', async () => {
  const { ports, logged } = fanOutWorld();
  const jobs = { ...ports.jobs, handOver: () => Promise.reject(new TypeError('no table')) };
  const refusing = queueThat(async (entries) => entries);
  await expect(fannedOut(fanOutJob(3), { ...ports, jobs, queue: refusing })).rejects.toThrow('refused');
  expect(logged).toEqual([['job.round_not_released', { ...facts, error: 'TypeError' }]]);
});

describe('a number on which many reserve at the same moment', () => {
  const job = fanOutJob(20);

  test.each([
    [0, 2],
    [0.999, 9],
  ])('is tried again after a few seconds, as a message sent anew (%d)', async (random, delaySeconds) => {
    const { ports, paces, queued, progress, sentAgain, logged } = fanOutWorld({ random: () => random });
    const contended = { ...paces, change: () => Promise.reject(new PaceContended()) };
    expect(await fannedOut(job, { ...ports, paces: contended })).toEqual({ end: 'done' });
    expect([queued, progress.size, sentAgain]).toEqual([[], 0, [{ job: { ...job, round: 1 }, delaySeconds }]]);
    expect(logged).toEqual([['job.number_contended', { count: 20 }]]);
  });

  test('is not what another error looks like: that fails the run', async () => {
    const { ports, paces, sentAgain } = fanOutWorld();
    const broken = { ...paces, change: () => Promise.reject(new Error('no table')) };
    await expect(fannedOut(job, { ...ports, paces: broken })).rejects.toThrow('no table');
    expect(sentAgain).toEqual([]);
  });
});
