import { expect, test } from 'vitest';
import { accept, quietWorld, workers } from './quiet-world.ts';
import { startMs } from './world.ts';

test('workers that are slower than their number go on at their own pace, and not over its limit (D43)', async () => {
  const limitPerSecond = 1_000;
  const world = quietWorld({ limitPerSecond });
  const messages = 15_000;
  accept(world, messages);
  await world.run(3_600_000);
  const { posts } = world.platform;
  expect(new Set(posts.map(({ dispatchId }) => dispatchId)).size).toBe(messages);
  // The platform counts every second, wherever it begins: it has refused none.
  expect(posts).toHaveLength(messages);
  const seconds = ((posts.at(-1)?.atMs ?? 0) - startMs) / 1_000;
  expect(messages / seconds).toBeGreaterThan(4 * workers);
  expect(world.numbers.writes / messages).toBeLessThan(2);
});
