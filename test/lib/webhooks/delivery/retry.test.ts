import { describe, expect, test } from 'vitest';
import { maxAttempts, nextDueMs, retryAfterMs, wakeDelaySeconds } from '../../../../lib/webhooks/delivery/retry.ts';

const hourMs = 3_600_000;

/** Returns the milliseconds from the first attempt to the last, when the random number is always the same. */
function wholeMs(random: number): number {
  let nowMs = 0;
  for (let attempts = 1; ; attempts++) {
    const dueMs = nextDueMs({ attempts, nowMs }, random);
    if (dueMs === undefined) return nowMs;
    nowMs = dueMs;
  }
}

describe('the schedule (R42)', () => {
  test.each([
    [1, 5],
    [2, 300],
    [3, 1_800],
    [4, 7_200],
    [5, 18_000],
    [6, 36_000],
    [7, 61_200],
  ])('after attempt %i: %i s, a fifth more or less', (attempts, seconds) => {
    const waits = [0, 0.5, 1].map((random) => nextDueMs({ attempts, nowMs: 1_000 }, random));
    expect(waits).toEqual([1_000 + seconds * 800, 1_000 + seconds * 1_000, 1_000 + seconds * 1_200]);
  });

  test('the eighth attempt is the last', () => {
    expect(maxAttempts).toBe(8);
    expect(nextDueMs({ attempts: 8, nowMs: 0 }, 0.5)).toBeUndefined();
  });

  test('it lasts more than 27 hours however chance falls', () => {
    expect(wholeMs(0)).toBeGreaterThan(27.6 * hourMs);
    expect(wholeMs(1)).toBeLessThan(42 * hourMs);
  });

  test('a Retry-After makes a wait longer, never shorter', () => {
    expect(nextDueMs({ attempts: 1, nowMs: 0, retryAfterMs: 60_000 }, 0)).toBe(60_000);
    expect(nextDueMs({ attempts: 4, nowMs: 0, retryAfterMs: 60_000 }, 0)).toBe(5_760_000);
    expect(nextDueMs({ attempts: 8, nowMs: 0, retryAfterMs: 60_000 }, 0)).toBeUndefined();
  });
});

const nowMs = Date.parse('2026-10-01T00:00:00Z');
test.each([
  ['120', 120_000],
  [' 0 ', 0],
  ['Thu, 01 Oct 2026 00:01:00 GMT', 60_000],
  ['Wed, 30 Sep 2026 23:00:00 GMT', 0],
  ['999999999', 12 * hourMs],
  ['Fri, 01 Oct 2027 00:00:00 GMT', 12 * hourMs],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['Xyz, 99', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %s is %s ms', (header, ms) => {
  expect(retryAfterMs(header, nowMs)).toBe(ms);
});

test('a wake is sent for at least a second, and for no longer than the queue allows', () => {
  expect([0, 1, 1_001, 900_000, 900_001].map((atMs) => wakeDelaySeconds(atMs, 0))).toEqual([1, 1, 2, 900, 900]);
});
