import { expect, test } from 'vitest';
import { type Pace, retryDelaySeconds } from '../../../../lib/messages/pace/retry-delay.ts';

const withoutJitter: readonly (readonly [Pace, readonly number[]])[] = [
  ['pair', [1, 4, 16, 64, 256, 900, 900]],
  ['throughput', [1, 2, 4, 8, 16, 32, 64]],
  ['quota', [30, 60, 120, 240, 480, 900, 900]],
  ['restriction', [600, 900, 900]],
  ['maintenance', [60, 60, 60]],
  ['syncing', [120, 120, 120]],
  ['credential', [120, 240, 480, 900]],
  ['unreachable', [2, 4, 8, 16]],
  ['claims', [5, 10, 20, 40]],
];

test.each(withoutJitter)('%s waits %j seconds', (pace, seconds) => {
  expect(seconds.map((_, attempt) => retryDelaySeconds({ pace, attempt }, 0))).toEqual(seconds);
});

test('jitter adds up to half and never shortens the wait', () => {
  expect(retryDelaySeconds({ pace: 'pair', attempt: 2 }, 0.999)).toBe(24);
  expect(retryDelaySeconds({ pace: 'quota', attempt: 0 }, 0.5)).toBe(38);
});

test('Retry-After is honoured when it is longer', () => {
  expect(retryDelaySeconds({ pace: 'throughput', attempt: 0, retryAfterSeconds: 30 }, 0)).toBe(30);
  expect(retryDelaySeconds({ pace: 'quota', attempt: 0, retryAfterSeconds: 5 }, 0)).toBe(30);
  expect(retryDelaySeconds({ pace: 'quota', attempt: 0, retryAfterSeconds: 5_000 }, 0)).toBe(900);
});

test('no number of attempts leads past what SQS can delay', () => {
  expect(retryDelaySeconds({ pace: 'pair', attempt: 5_000 }, 0.9)).toBe(900);
});
