import { expect, test } from 'vitest';
import { requestTime } from '../../../../lib/templates/authoring/request-time.ts';
import { refused } from '../../../support/refused.ts';

/** Returns the remaining time in ms, or the refusal, this long after the start. */
function left(step: 'forMedia' | 'forCall', passedMs: number): number | string {
  const time = requestTime(() => 1_000 + passedMs, 1_000);
  try {
    return time[step]();
  } catch {
    const { status, message } = refused(time[step]);
    return `${status} ${message}`;
  }
}

const tooLate = '502 too little time was left for the platform; nothing was changed there';

test.each([
  ['forMedia', 0, 13_000],
  ['forMedia', 12_000, 1_000],
  ['forMedia', 12_001, tooLate],
  ['forCall', 0, 21_000],
  ['forCall', 13_000, 8_000],
  ['forCall', 16_000, 5_000],
  ['forCall', 16_001, tooLate],
  ['forCall', 60_000, tooLate],
] as const)('%s after %i ms: %s', (step, passedMs, expected) => {
  expect(left(step, passedMs)).toBe(expected);
});
