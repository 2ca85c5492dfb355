import {
  accept,
  besideSilence,
  type CodesBeside,
  codeWaitsMs,
  p99Of,
  quietWorld,
  silent,
  singleSends,
} from '../pipeline/quiet-world.ts';
import type { PipelineWorld } from '../pipeline/world.ts';
import { report } from './figure.ts';

/** Measures how clients that share a number affect each other: the worst of queues on time and queues a second late. */
export async function benchFairness(): Promise<void> {
  for (const { clients, size, limit } of shares) {
    const value = await worstOf((latenessMs) => unequalShares(clients, size, latenessMs));
    report({ figure: `fairness.unequal_shares_of_${clients}`, value, limit, unit: 'of the mean, most to least' });
  }
  for (const beside of [1, 5, 20]) {
    const value = await worstOf((latenessMs) => newcomerMs(beside, latenessMs));
    report({ figure: `fairness.newcomer_beside_${beside}`, value, limit: 2_000, unit: 'ms to its first message' });
  }
  const idleMs = p99Of(await codeWaitsMs());
  const crowded: readonly [string, CodesBeside, number][] = [
    ['behind_100000_promotions', { before: (world) => void acceptDispatches(world, 10, 10_000) }, 1.5],
    ['beside_5000_codes', { before: (world) => void accept(world, 5_000, { clientId: 7, urgent: true }) }, 2],
    ['beside_a_silent_number', { ...besideSilence, before: (world) => void accept(world, 10_000, silent) }, 2],
    // Workers of small requests wait longest before the number is held.
    ['beside_single_sends_to_a_silent_number', { ...besideSilence, before: (world) => singleSends(world) }, 2],
  ];
  for (const [name, beside, limit] of crowded) {
    const value = p99Of(await codeWaitsMs(beside)) / idleMs;
    report({ figure: `fairness.code_${name}`, value, limit, unit: 'times an idle number, p99' });
  }
  for (const { limitPerSecond, limit } of tenCodes) {
    const value = await longestTenCodesMs(limitPerSecond);
    report({ figure: `fairness.ten_codes_at_${limitPerSecond}`, value, limit, unit: 'ms to the last of them' });
  }
  const slowly = quietWorld({ answerMs: answersOf(1_000, 3_000) });
  accept(slowly, 3_000);
  await slowly.run(3_600_000);
  const calls = slowly.platform.posts.length / 3_000;
  report({
    figure: 'fairness.calls_at_slow_answers',
    value: calls,
    limit: 1.02,
    unit: 'a message, answers of 1 to 3 s',
  });
  for (const [limitPerSecond, limit] of [
    [80, 30],
    [1_000, 50],
  ] as const) {
    report({
      figure: `fairness.unknown_by_one_kill_at_${limitPerSecond}`,
      value: await unknownByOneKill(limitPerSecond),
      limit,
      unit: 'recipients',
    });
  }
}

const shares = [
  { clients: 2, size: 10_000, limit: 0.02 },
  { clients: 10, size: 4_000, limit: 0.03 },
  { clients: 100, size: 2_000, limit: 0.06 },
] as const;

/** The limits add a second, the current turn of another dispatch, ten slots and 0.3 s of calls. */
const tenCodes = [
  { limitPerSecond: 5, limit: 5_750 },
  { limitPerSecond: 20, limit: 3_000 },
  { limitPerSecond: 80, limit: 1_900 },
] as const;

async function worstOf(measure: (latenessMs: number) => Promise<number>): Promise<number> {
  return Math.max(await measure(0), await measure(1_000));
}

function acceptDispatches(world: PipelineWorld, clients: number, size: number): string[] {
  return Array.from({ length: clients }, (_, at) => accept(world, size, { clientId: at + 1 }));
}

/**
 * Stops after nine tenths of the time that all need, so that each client still has messages left. The first client has
 * a second dispatch.
 */
async function unequalShares(clients: number, size: number, delayJitterMs: number): Promise<number> {
  const world = quietWorld({ delayJitterMs, workers: 200 });
  const dispatchIds = acceptDispatches(world, clients, size);
  const second = accept(world, size, { clientId: 1 });
  await world.run((0.9 * clients * size * 1_000) / 72);
  const counts = dispatchIds.map((dispatchId) => postsOf(world, dispatchId).length);
  counts[0] = (counts[0] ?? 0) + postsOf(world, second).length;
  const mean = counts.reduce((sum, count) => sum + count, 0) / clients;
  return (Math.max(...counts) - Math.min(...counts)) / mean;
}

/** Returns the longest wait among ten requests of ten recipients, each of another client. */
async function newcomerMs(beside: number, delayJitterMs: number): Promise<number> {
  const world = quietWorld({ delayJitterMs, workers: 200 });
  acceptDispatches(world, beside, 5_000);
  const requests: { readonly dispatchId: string; readonly atMs: number }[] = [];
  const comeIn = async () => {
    for (let at = 0; at < 10; at += 1) {
      await world.time.sleep(5_000 + 137 * at);
      requests.push({ dispatchId: accept(world, 10, { clientId: 900 + at }), atMs: world.time.nowMs });
    }
  };
  void comeIn();
  await world.run(90_000);
  return Math.max(...requests.map(({ dispatchId, atMs }) => firstPostMs(world, dispatchId) - atMs));
}

/**
 * Returns the longest wait among six requests of ten codes, each of another client, on an idle number and beside
 * dispatches that fill it.
 */
async function longestTenCodesMs(limitPerSecond: number): Promise<number> {
  let longestMs = 0;
  for (const dispatches of [0, 1, 3]) {
    for (const delayJitterMs of [0, 20, 200, 1_000]) {
      const world = quietWorld({ limitPerSecond, delayJitterMs, workers: 200 });
      acceptDispatches(world, dispatches, 180 * limitPerSecond);
      const requests: { readonly dispatchId: string; readonly atMs: number }[] = [];
      const comeIn = async () => {
        for (let at = 0; at < 6; at += 1) {
          await world.time.sleep(20_000 + 137 * at);
          const dispatchId = accept(world, 10, { clientId: 900 + at, urgent: true });
          requests.push({ dispatchId, atMs: world.time.nowMs });
        }
      };
      void comeIn();
      await world.run(150_000);
      for (const { dispatchId, atMs } of requests) {
        const posts = postsOf(world, dispatchId).filter(({ taken }) => taken);
        longestMs = Math.max(longestMs, posts.length < 10 ? Infinity : (posts.at(-1)?.atMs ?? 0) - atMs);
      }
    }
  }
  return longestMs;
}

/** Returns the most unknown messages of one kill. Each world kills its run a little later. */
async function unknownByOneKill(limitPerSecond: number): Promise<number> {
  let most = 0;
  for (let lifeMs = 600; lifeMs <= 2_400; lifeMs += 50) {
    let runs = 0;
    const isFifth = (name: string) => {
      if (name === 'dispatch') runs += 1;
      return name === 'dispatch' && runs === 5;
    };
    const world = quietWorld({
      limitPerSecond,
      workers: 200,
      answerMs: answersOf(300, 800),
      lifeMs: (name) => (isFifth(name) ? lifeMs : undefined),
    });
    accept(world, 1_000);
    await world.run(3_600_000);
    const outcomes = [...world.table.slices.values()].flatMap((slice) => slice.outcomes);
    most = Math.max(most, outcomes.filter((outcome) => outcome?.state === 'unknown').length);
  }
  return most;
}

function answersOf(leastMs: number, mostMs: number): () => number {
  let at = 0;
  return () => {
    at = (at + 7) % 20;
    return leastMs + (at / 20) * (mostMs - leastMs);
  };
}

function postsOf(world: PipelineWorld, dispatchId: string) {
  return world.platform.posts.filter(({ messageId }) => messageId.startsWith(`${dispatchId}-`));
}

function firstPostMs(world: PipelineWorld, dispatchId: string): number {
  return postsOf(world, dispatchId)[0]?.atMs ?? Number.POSITIVE_INFINITY;
}
