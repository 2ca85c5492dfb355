import { expect, test } from 'vitest';
import { accept, quietWorld } from './quiet-world.ts';
import { startMs } from './world.ts';

const messages = 15_000;

test('workers that are slower than their number go on at their own pace, and not over its limit (D43)', async () => {
  const [limitPerSecond, workers] = [1_000, 50];
  const world = quietWorld({ limitPerSecond, workers });
  accept(world, messages);
  await world.run(3_600_000);
  const { posts } = world.platform;
  expect(new Set(posts.map(({ dispatchId }) => dispatchId)).size).toBe(messages);
  // The platform counts every second, wherever it begins: it has refused none.
  expect(posts).toHaveLength(messages);
  const seconds = ((posts.at(-1)?.atMs ?? 0) - startMs) / 1_000;
  console.error(
    seconds,
    messages / seconds,
    world.numbers.writes,
    world.meter.timesOf('dispatch'),
    world.meter.requests,
    world.logged,
  );
  expect(messages / seconds).toBeLessThan(0.9 * limitPerSecond);
  expect(messages / seconds).toBeGreaterThan(12 * workers);
  expect(world.numbers.writes / messages).toBeLessThan(0.1);
});
