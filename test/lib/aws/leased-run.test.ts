import { expect, test } from 'vitest';
import { leasedRun, type RunState } from '../../../lib/aws/leased-run.ts';

/** While the lease cannot be written, its own death has one wake each renewal, however often the run tries. */
test('a run that cannot renew its lease queues no wake for each try', async () => {
  let nowMs = 1_800_000_000_000;
  let state: RunState = { wakeAtMs: 0 };
  let fails = false;
  const wakes: number[] = [];
  await leasedRun<RunState>({
    leasing: { leaseMs: 25_000, renewMs: 10_000 },
    states: {
      change: async (decide) => {
        if (fails) throw new Error('unreachable');
        const next = decide(state);
        if (next !== undefined) state = next;
        return { state, version: 1, changed: next !== undefined };
      },
    },
    messages: [],
    firstDueMs: async () => (wakes.length === 0 ? nowMs : undefined),
    work: async ({ keep }) => {
      fails = true;
      for (let tries = 0; tries < 40; tries += 1) {
        nowMs += 500;
        await keep().catch(() => undefined);
      }
      // A store that comes back is told only of the lease that its wake outlasts.
      fails = false;
      nowMs += 500;
      await keep();
      expect((state.lease?.untilMs ?? 0) - nowMs).toBeLessThanOrEqual(25_000);
      expect((state.lease?.untilMs ?? 0) + 5_000).toBeLessThan((wakes.at(-1) ?? 0) + 36_000);
      return (before) => before;
    },
    wake: async () => void wakes.push(nowMs),
    mayGoOn: () => true,
    newOwner: () => 'a',
    nowMs: () => nowMs,
  });
  expect(wakes.length).toBe(3);
});
