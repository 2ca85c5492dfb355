import { expect, test } from 'vitest';
import { accept, quietWorld } from './quiet-world.ts';
import { startMs } from './world.ts';

test.each([2, 8, 25])(
  '%i workers that are slower than their number go on at their own pace, and not over its limit (D43)',
  async (workers) => {
    const limitPerSecond = 1_000;
    const world = quietWorld({ limitPerSecond, workers });
    const messages = 15_000;
    accept(world, messages);
    await world.run(3_600_000);
    const { posts } = world.platform;
    expect(new Set(posts.map(({ dispatchId }) => dispatchId)).size).toBe(messages);
    // The platform counts every second, wherever it begins: it has refused none.
    expect(posts).toHaveLength(messages);
    const perSecond = messages / (((posts.at(-1)?.atMs ?? 0) - startMs) / 1_000);
    expect(perSecond).toBeLessThan(0.9 * limitPerSecond);
    // A chunk of thirty in a second, at least.
    expect(perSecond).toBeGreaterThan(30 * workers);
    // What has missed its slots takes others: one write for a chunk.
    expect(world.numbers.writes / messages).toBeLessThan(0.05);
  },
);
