import { expect, test } from 'vitest';
import {
  type AttemptConditions,
  type AttemptHistory,
  attemptConditions,
} from '../../../../lib/access/sign-in/login-throttle.ts';

/** sign-in.test.ts explores how many guesses an attack gets from these rules. */

const lastStartedMs = Date.UTC(2026, 10, 20);
const calm = { free: 10, atOnce: 20 };
const underAttack = { free: 1, atOnce: 5 };

test.each<readonly [string, AttemptConditions, number | undefined, Omit<AttemptHistory, 'pair'>]>([
  ['nothing is known of it', { ...calm, afterDelayOf: undefined }, undefined, { nameFailures: 19 }],
  ['nine have started', { ...calm, afterDelayOf: undefined }, 9, { nameFailures: 19 }],
  [
    'nothing is known of it, under attack',
    { ...underAttack, afterDelayOf: undefined },
    undefined,
    { nameFailures: 20 },
  ],
])('the next attempt of a pair need not wait: %s', (_, turn, started, { nameFailures }) => {
  const pair = started === undefined ? undefined : { started, failures: started, lastStartedMs };
  expect(attemptConditions({ pair, nameFailures }, lastStartedMs + 1_000_000)).toEqual(turn);
});

test.each([
  [10, 30],
  [11, 60],
  [14, 480],
  [15, 900],
  [30, 900],
])('after %i attempts the next one may start %i s after the last', (started, seconds) => {
  const history = { pair: { started, failures: started, lastStartedMs }, nameFailures: 19 };
  const dueAtMs = lastStartedMs + seconds * 1_000;
  expect(attemptConditions(history, dueAtMs - 1)).toEqual({ ...calm, afterDelayOf: undefined });
  expect(attemptConditions(history, dueAtMs)).toEqual({ ...calm, afterDelayOf: started });
});

test.each([
  [1, 30],
  [2, 60],
  [7, 1_920],
  [8, 3_600],
  [30, 3_600],
])('under attack, after %i attempts the next one may start %i s after the last', (started, seconds) => {
  const history = { pair: { started, failures: started, lastStartedMs }, nameFailures: 20 };
  const dueAtMs = lastStartedMs + seconds * 1_000;
  expect(attemptConditions(history, dueAtMs - 1)).toEqual({ ...underAttack, afterDelayOf: undefined });
  expect(attemptConditions(history, dueAtMs)).toEqual({ ...underAttack, afterDelayOf: started });
});
