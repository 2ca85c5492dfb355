import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  admitted,
  afterFailure,
  afterSuccess,
  type DeliveryState,
  DeliveryStateSchema,
  isFast,
  isHopeless,
  needsProbe,
  released,
  widthOf,
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

describe('how much at once', () => {
  const well = afterSuccess(untouched, 0);
  const minuteMs = 60_000;

  function entering(state: DeliveryState): number {
    let [current, count] = [state, 0];
    for (;;) {
      const next = admitted(current, `run ${count}`, 0);
      if (next === undefined) return count;
      [current, count] = [next, count + 1];
    }
  }

  test('four slots for a receiver that is fast, two for any other', () => {
    expect([1_000, 1_001, undefined].map((turnMs) => entering({ ...well, turnMs } as DeliveryState))).toEqual([
      4, 2, 2,
    ]);
    expect(entering({ ...failing(1), pausedUntilMs: 0, turnMs: 10 })).toBe(1);
  });

  test('fast is what ended its last posts within a second, is well, and has nothing under way for longer', () => {
    const fast = { ...well, turnMs: 1_000 };
    expect(isFast(fast, 0)).toBe(true);
    expect([well, { ...well, turnMs: 1_001 }, { ...untouched, turnMs: 50 }].map((state) => isFast(state, 0))).toEqual([
      false,
      false,
      false,
    ]);
    expect(isFast(afterFailure(fast, failure, 0), 0)).toBe(false);
    const busy = admitted(admitted(fast, 'a', 0) ?? well, 'b', 900) ?? well;
    expect([1_000, 1_001].map((nowMs) => isFast(busy, nowMs))).toEqual([true, false]);
    expect(admitted(busy, 'c', 1_000)?.leases).toHaveLength(3);
    expect(admitted(busy, 'c', 1_001)).toBeUndefined();
    expect(isFast(released(busy, 'a'), 1_001)).toBe(true);
  });

  test('a receiver that is unknown or has failed is probed; one that answered gets ten posts', () => {
    expect([untouched, failing(1), well].map(needsProbe)).toEqual([true, true, false]);
    expect(widthOf(well)).toBe(10);
  });

  test('what fails under a load gets half as much, once for each time that it was well; ten minutes later twice that', () => {
    let state = well;
    const widths: number[] = [];
    for (const _ of Array.from({ length: 5 })) {
      state = afterFailure(afterFailure(state, failure, 0), failure, 0);
      state = afterSuccess(state, 0);
      widths.push(widthOf(state));
    }
    expect(widths).toEqual([5, 2, 1, 1, 1]);
    expect(widthOf(afterSuccess(state, 10 * minuteMs - 1))).toBe(1);
    const wider: number[] = [];
    for (const round of [1, 2, 3, 4, 5]) {
      state = afterSuccess(state, round * 10 * minuteMs);
      wider.push(widthOf(state));
    }
    expect(wider).toEqual([2, 4, 8, 10, 10]);
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
