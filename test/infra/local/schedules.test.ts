import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startSchedules } from '../../../infra/local/schedules.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a function runs at its rate, a failed run is told and the next one comes, until the stack stops', async () => {
  const runs: string[] = [];
  const told: string[] = [];
  const schedules = startSchedules({
    schedules: [{ functionId: 'App.Sweep', everyMs: 60_000 }],
    runner: {
      invoke: async (functionId) => {
        runs.push(functionId);
        if (runs.length === 2) throw new Error('gone');
        return runs.length === 1 ? { ok: false, error: 'TimeoutError' } : { ok: true };
      },
    },
    nameOf: () => 'messages-sweep',
    report: (line) => void told.push(line),
  });
  await vi.advanceTimersByTimeAsync(59_999);
  expect(runs).toEqual([]);
  await vi.advanceTimersByTimeAsync(120_001);
  expect(runs).toHaveLength(3);
  expect(told).toEqual([
    'messages-sweep failed (TimeoutError); it runs again in its time',
    'messages-sweep failed (Error: gone); it runs again in its time',
  ]);
  await schedules.stop();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(runs).toHaveLength(3);
});
