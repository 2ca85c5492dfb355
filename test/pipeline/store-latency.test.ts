import { expect, test } from 'vitest';
import { accept, limitPerSecond, quietWorld } from './quiet-world.ts';
import { type PipelineWorld, startMs, type WorldRules } from './world.ts';
import { startsOf } from './world-parts.ts';

/*
 * The virtual world tells the truth about what is slow: the requests of the store, Lambda's own additions of workers,
 * and the start of their processes.
 */

/** Returns the used share of the number's limit from its first message to its last. */
function shareOf({ platform: { posts } }: PipelineWorld, limit: number): number {
  const times = posts.map(({ atMs }) => atMs);
  return (1_000 * posts.length) / (Math.max(...times) - Math.min(...times)) / limit;
}

/** Requests of the table take so long, those of platform and queues a few ms. */
function latencyOf(storeMs: () => number): WorldRules['latencyMs'] {
  return (name) => (['send', 'probe', 'wakeSenders', 'sendEvents'].includes(name) ? 2 : storeMs() / 2);
}

function takenOnce(world: PipelineWorld, total: number): void {
  const taken = world.platform.posts.filter((post) => post.taken);
  expect(taken).toHaveLength(total);
  expect(new Set(taken.map(({ messageId }) => messageId)).size).toBe(total);
}

test.each([
  { storeMs: 6, size: 3_000, share: 0.89, writes: 0.21 },
  { storeMs: 30, size: 3_000, share: 0.88, writes: 0.21 },
  { storeMs: 120, size: 3_000, share: 0.85, writes: 0.22 },
  { storeMs: 300, size: 3_000, share: 0.5, writes: 0.23 },
  { storeMs: 600, size: 1_500, share: 0.2, writes: 0.25 },
  { storeMs: 1_000, size: 1_000, share: 0.1, writes: 0.25 },
])(
  'a number sends at $share of its limit while requests of the table take $storeMs ms (D43)',
  async ({ storeMs, size, share, writes }) => {
    const world = quietWorld({ latencyMs: latencyOf(() => storeMs) });
    accept(world, size);
    await world.run(4 * 3_600_000);
    takenOnce(world, size);
    expect(shareOf(world, limitPerSecond)).toBeGreaterThan(share);
    expect(world.meter.requests.write / size).toBeLessThan(writes);
  },
);

test('once the table is fast again, all goes on by itself, and nothing is lost (D43)', async () => {
  const fastFromMs = startMs + 60_000;
  const world: PipelineWorld = quietWorld({
    latencyMs: latencyOf(() => (world.time.nowMs < fastFromMs ? 1_000 : 6)),
  });
  accept(world, 4_000);
  await world.run(3_600_000);
  takenOnce(world, 4_000);
  expect([...world.told.values()].filter(({ type }) => type === 'message.unknown')).toEqual([]);
  const { posts } = world.platform;
  expect(posts.filter(({ atMs }) => atMs < fastFromMs).length).toBeGreaterThan(0);
  const after = posts.filter(({ atMs }) => atMs > fastFromMs + 2_000).map(({ atMs }) => atMs);
  const tookMs = Math.max(...after) - Math.min(...after);
  expect((1_000 * after.length) / tookMs / limitPerSecond).toBeGreaterThan(0.85);
});

test('a number of 1,000 a second uses its limit although workers come by and by, and start cold (D43)', async () => {
  const starts = startsOf(512, 260);
  // So long is an import at 512 MB.
  expect(Math.round(starts.coldMs / 100)).toBe(9);
  const world = quietWorld({ limitPerSecond: 1_000, workers: 1_000, starts });
  const dispatchId = accept(world, 24_000);
  await world.run(3_600_000);
  takenOnce(world, 24_000);
  expect(shareOf(world, 1_000)).toBeGreaterThan(0.8);
  const first = world.platform.posts.find(({ messageId }) => messageId.startsWith(dispatchId));
  expect((first?.atMs ?? 0) - startMs).toBeLessThan(2_000);
});

test('forty numbers begin within seconds, although a queue has five workers at first (D43)', async () => {
  const world = quietWorld({ workers: 1_000, starts: startsOf(512, 260) });
  const numbers = Array.from({ length: 40 }, (_, at) => `3000000000001${String(at).padStart(2, '0')}`);
  for (const phoneNumberId of numbers) accept(world, 400, { phoneNumberId });
  await world.run(60_000);
  const firsts = numbers.map((number) => world.platform.posts.find((post) => post.phoneNumberId === number)?.atMs);
  // Five more workers come each second.
  expect(Math.max(...firsts.map((atMs) => atMs ?? Number.POSITIVE_INFINITY)) - startMs).toBeLessThan(12_000);
});
