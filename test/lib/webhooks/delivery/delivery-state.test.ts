import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  admitted,
  afterFailure,
  afterSuccess,
  type DeliveryState,
  DeliveryStateSchema,
  isHopeless,
  released,
} from '../../../../lib/webhooks/delivery/delivery-state.ts';
import type { Failure } from '../../../../lib/webhooks/delivery/verdict.ts';

const untouched = v.parse(DeliveryStateSchema, {});
const failure: Failure = { kind: 'failed', code: '500', overloaded: false };
const dayMs = 86_400_000;

function failing(times: number): DeliveryState {
  let state = untouched;
  for (let count = 0; count < times; count++) state = afterFailure(state, failure, 0);
  return state;
}

describe('slots', () => {
  const one = admitted(untouched, 'a', 0) ?? untouched;
  const two = admitted(one, 'b', 1_000) ?? untouched;

  test('two, the third waits', () => {
    expect(two.leases.map(({ owner }) => owner)).toEqual(['a', 'b']);
    expect(admitted(two, 'c', 39_999)).toBeUndefined();
  });

  test('a slot whose holder died is free again', () => {
    expect(admitted(two, 'c', 40_000)?.leases.map(({ owner }) => owner)).toEqual(['b', 'c']);
  });

  test('a slot that was given back is free at once', () => {
    expect(admitted(released(two, 'a'), 'c', 1_001)?.leases.map(({ owner }) => owner)).toEqual(['b', 'c']);
    expect(released(two, 'stranger')).toEqual(two);
  });
});

describe('pauses', () => {
  test.each([
    [1, 5_000],
    [2, 10_000],
    [6, 160_000],
    [7, 300_000],
    [5_000, 300_000],
  ])('after %i failures in a row: %i ms', (times, ms) => {
    const state = failing(times);
    expect(state.pausedUntilMs).toBe(ms);
    expect(admitted(state, 'a', ms - 1)).toBeUndefined();
    expect(admitted(state, 'a', ms)).toBeDefined();
  });

  test('a receiver that gets too much is left alone for a minute, or as long as it asks', () => {
    expect(afterFailure(untouched, { ...failure, overloaded: true }, 0).pausedUntilMs).toBe(60_000);
    expect(afterFailure(untouched, { ...failure, retryAfterMs: 90_000 }, 0).pausedUntilMs).toBe(90_000);
    expect(afterFailure(untouched, { ...failure, retryAfterMs: 1_000 }, 0).pausedUntilMs).toBe(5_000);
    expect(afterFailure(untouched, { ...failure, retryAfterMs: 43_200_000 }, 0).pausedUntilMs).toBe(3_600_000);
  });

  test('when the pause is over, one probe at a time', () => {
    const probed = admitted(failing(1), 'probe', 5_000) ?? untouched;
    expect(probed.leases).toHaveLength(1);
    expect(admitted(probed, 'second', 24_999)).toBeUndefined();
    expect(admitted(probed, 'second', 25_000)).toBeDefined();
  });

  test('a success ends it', () => {
    const well = afterSuccess(failing(9), 77);
    expect(well).toEqual({ ...untouched, lastSuccessMs: 77 });
    expect(admitted(admitted(well, 'a', 78) ?? failing(1), 'b', 78)).toBeDefined();
  });
});

describe('five days of nothing but failures', () => {
  /** A failure every `everyMs`, the last at `untilMs`. */
  function failingEvery(everyMs: number, untilMs: number): DeliveryState {
    let state = untouched;
    for (let atMs = 0; atMs <= untilMs; atMs += everyMs) state = afterFailure(state, failure, atMs);
    return state;
  }

  test('make it hopeless, and not a moment less', () => {
    const state = failingEvery(dayMs / 2, 5 * dayMs);
    expect(isHopeless(state, 5 * dayMs - 1)).toBe(false);
    expect(isHopeless(state, 5 * dayMs)).toBe(true);
  });

  test('one success begins them anew', () => {
    const state = afterFailure(afterSuccess(failingEvery(dayMs, 4 * dayMs), 4 * dayMs), failure, 5 * dayMs);
    expect(isHopeless(state, 5 * dayMs)).toBe(false);
  });

  test('two failures with nothing tried in between are no five days', () => {
    expect(isHopeless(failingEvery(6 * dayMs, 6 * dayMs), 6 * dayMs)).toBe(false);
  });

  test('no failure at all', () => {
    expect(isHopeless(untouched, 10 * dayMs)).toBe(false);
  });
});
