import { expect, test } from 'vitest';
import { accept, quietWorld } from './quiet-world.ts';
import { startMs } from './world.ts';

test.each([2, 5])(
  '%i workers for a number of eight senders go on at their own pace, and not over its limit (D43)',
  async (workers) => {
    const limitPerSecond = 1_000;
    const world = quietWorld({ limitPerSecond, workers });
    const messages = 8_000;
    accept(world, messages);
    await world.run(3_600_000);
    const { posts } = world.platform;
    expect(new Set(posts.map(({ messageId }) => messageId)).size).toBe(messages);
    // The platform limits any second, not only calendar seconds. It has refused no call.
    expect(posts).toHaveLength(messages);
    const perSecond = messages / (((posts.at(-1)?.atMs ?? 0) - startMs) / 1_000);
    expect(perSecond).toBeLessThan(0.9 * limitPerSecond);
    // A sender has an eighth of the pace. Its part may end before others have had a worker.
    expect(perSecond).toBeGreaterThan(0.4 * workers * (limitPerSecond / 8));
  },
);

const seconds = 60;

test.each([200, 60, 20])(
  'sixteen numbers of three clients each use their limits, on %i workers (D43)',
  async (workers) => {
    const world = quietWorld({ workers });
    const numbers = Array.from({ length: 16 }, (_, at) => `3000000000000${String(at).padStart(2, '0')}`);
    for (const phoneNumberId of numbers) {
      for (const clientId of [1, 2, 3]) accept(world, 1_700, { clientId, phoneNumberId });
    }
    await world.run(1_000 * seconds);
    const byNumber = Map.groupBy(world.platform.posts, ({ phoneNumberId }) => phoneNumberId);
    const shares = numbers.map((number) => (byNumber.get(number)?.length ?? 0) / seconds / 80);
    expect(Math.min(...shares)).toBeGreaterThan(0.88);
  },
  300_000,
);
