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
    expect(new Set(posts.map(({ messageId }) => messageId)).size).toBe(messages);
    // The platform limits any second, not only calendar seconds. It has refused no call.
    expect(posts).toHaveLength(messages);
    const perSecond = messages / (((posts.at(-1)?.atMs ?? 0) - startMs) / 1_000);
    expect(perSecond).toBeLessThan(0.9 * limitPerSecond);
    // A worker sends at least a chunk of thirty in a second.
    expect(perSecond).toBeGreaterThan(30 * workers);
    // A chunk that misses its slots reserves others with one write.
    expect(world.numbers.writes / messages).toBeLessThan(0.05);
  },
);
