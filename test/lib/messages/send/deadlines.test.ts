import { expect, test } from 'vitest';
import { dispatchMemorySeconds } from '../../../../lib/messages/dispatch/items.ts';
import {
  claimLifeMs,
  dispatchTimeoutMs,
  lateness,
  platformCallTimeoutMs,
  retryDeadlineMs,
  sendBudgetMs,
} from '../../../../lib/messages/send/deadlines.ts';

const acceptedAtMs = 1_800_000_000_000;
const dayMs = 86_400_000;

test('a claim outlives the function by a margin for clocks and late writes, a send its call by the time for a write (R13)', () => {
  expect(claimLifeMs - dispatchTimeoutMs).toBeGreaterThanOrEqual(30_000);
  expect(sendBudgetMs - platformCallTimeoutMs).toBeGreaterThanOrEqual(3_000);
  expect(sendBudgetMs).toBeLessThan(dispatchTimeoutMs);
});

test('the last message is sent while its slice, and every earlier try of it, is remembered (R23, R24)', () => {
  const lastMs = acceptedAtMs + dispatchMemorySeconds * 1_000 - dispatchTimeoutMs;
  const late = { state: 'failed', code: 'retry_deadline' };
  for (const attempt of [0, 1]) expect(lateness({ acceptedAtMs, attempt }, lastMs)).toEqual(late);
});

test.each([
  ['never tried', { attempt: 0 }, 28 * dayMs],
  ['tried', { attempt: 1 }, dayMs],
  ['tried, which expires by itself', { attempt: 1, expiresAtMs: acceptedAtMs + 1 }, 28 * dayMs],
])('a message that was %s may be tried until its deadline', (_, message, afterMs) => {
  expect(retryDeadlineMs({ acceptedAtMs, ...message })).toBe(acceptedAtMs + afterMs);
});

test('of a send with a time of its own only the time counts in which it might be called (D56)', () => {
  const hourMs = 3_600_000;
  const open = [0, 1, 2, 3].map(
    (day) => [acceptedAtMs + day * dayMs, acceptedAtMs + day * dayMs + 10 * hourMs] as const,
  );
  const dispatch = { acceptedAtMs, keptUntilMs: acceptedAtMs + 100 * dayMs, open };
  expect(retryDeadlineMs({ ...dispatch, attempt: 1 })).toBe(acceptedAtMs + 2 * dayMs + 4 * hourMs);
  expect(retryDeadlineMs({ ...dispatch, open: open.slice(0, 2), attempt: 1 })).toBe(acceptedAtMs + dayMs + 10 * hourMs);
  // The last call comes 37 days before the dispatch's items expire.
  expect(retryDeadlineMs({ ...dispatch, attempt: 0 })).toBe(acceptedAtMs + 63 * dayMs);
});

test('what has expired ended so, before any deadline (D27)', () => {
  const expiresAtMs = acceptedAtMs + 30_000;
  const at = (ms: number) => lateness({ acceptedAtMs, attempt: 0, expiresAtMs }, ms);
  expect([at(expiresAtMs - 1), at(expiresAtMs)]).toEqual([undefined, { state: 'expired', code: 'expired' }]);
  expect(at(acceptedAtMs + 29 * dayMs)).toEqual({ state: 'expired', code: 'expired' });
});
