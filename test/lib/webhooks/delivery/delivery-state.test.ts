import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  afterFailure,
  afterSuccess,
  type DeliveryState,
  DeliveryStateSchema,
  isHopeless,
  isPaused,
  isRestarted,
  leaseForFresh,
  leaseOrSignal,
  messagesOfHolder,
  needsProbe,
  type Round,
  type Run,
  roundEnded,
  unnotifiedFailingSinceMs,
  widthOf,
} from '../../../../lib/webhooks/delivery/delivery-state.ts';
import type { Failure } from '../../../../lib/webhooks/delivery/post-result.ts';

const untouched = v.parse(DeliveryStateSchema, {});
const failure: Failure = { kind: 'failed', code: '500', overloaded: false };
const dayMs = 86_400_000;

function failing(times: number): DeliveryState {
  let state = untouched;
  for (let count = 0; count < times; count++) state = afterFailure(state, failure, 0);
  return state;
}

const run = (owner: string): Run => ({ owner, messages: [`message of ${owner}`] });
const held = leaseForFresh(untouched, run('a'), 0) ?? untouched;
const ring = (owner: string, nowMs: number) => ({ run: run(owner), nowMs, isWoken: false, hasPut: true });
const woken = (owner: string, nowMs: number) => ({ run: run(owner), nowMs, isWoken: true, hasPut: false });
const nothing: Round = { delivered: false };
const round = (dueMs: number | undefined): Round => ({ delivered: true, dueMs });
const closing = (owner: string, nowMs: number, dueMs?: number) => ({
  ...{ owner, nowMs, round: round(dueMs), mayGoOn: true },
});

describe('a run with fresh events', () => {
  test('enters where all is quiet, and only there', () => {
    expect(held.lease).toEqual({ owner: 'a', untilMs: 40_000, messages: ['message of a'] });
    expect(leaseForFresh(held, run('b'), 39_999)).toBeUndefined();
    expect(leaseForFresh({ ...untouched, pausedUntilMs: 1 }, run('b'), 0)).toBeUndefined();
    expect(leaseForFresh({ ...untouched, isCalled: true }, run('b'), 0)).toBeUndefined();
    expect(leaseForFresh({ ...untouched, wakeAtMs: 9 }, run('b'), 8)?.lease?.owner).toBe('b');
  });

  test('does not overtake what waited for a wake that has not come, or for a holder that died', () => {
    expect(leaseForFresh({ ...untouched, wakeAtMs: 9 }, run('b'), 9)).toBeUndefined();
    expect(leaseForFresh(held, run('b'), 40_000)).toBeUndefined();
    expect(leaseOrSignal(held, ring('b', 40_000))?.lease?.owner).toBe('b');
  });

  test('whose lease was written without a reply has it', () => {
    expect(leaseForFresh(held, run('a'), 5)?.lease?.owner).toBe('a');
    expect(leaseOrSignal(held, ring('a', 5))).toMatchObject({
      lease: { owner: 'a', untilMs: 40_005 },
      isCalled: false,
    });
    expect(leaseOrSignal(held, { ...ring('a', 5), isWoken: true })?.isCalled).toBe(false);
  });
});

describe('a run that finds a new version of the configuration (D33)', () => {
  const paused = { ...untouched, pausedUntilMs: 300_000, wakeAtMs: 300_000, triedVersion: 1 };
  const found = (version: number) => ({ ...woken('b', 10), version });
  const failed = (triedVersion: number) => ({
    ...closing('a', 50),
    round: { ...nothing, failure, dueMs: 9_000, triedVersion },
  });

  test('ends the pause of the version before it, and no other', () => {
    expect(leaseOrSignal(paused, found(1))).toBeUndefined();
    expect(leaseOrSignal(paused, found(2))).toMatchObject({ lease: { owner: 'b' }, seenVersion: 2 });
    expect(leaseOrSignal({ ...paused, triedVersion: 2 }, found(2))).toBeUndefined();
  });

  test('calls a holder whose posts fail under the version before it: they pause nothing', () => {
    const called = leaseOrSignal({ ...held, triedVersion: 1, isCalled: true }, { ...found(2), isWoken: false }) ?? held;
    expect(called).toMatchObject({ lease: { owner: 'a' }, isCalled: true, seenVersion: 2 });
    const next = roundEnded(called, failed(1))?.state ?? held;
    expect([next.lease?.owner, isRestarted(next), isPaused(next, 50)]).toEqual(['a', true, false]);
    expect(roundEnded(called, { ...failed(1), mayGoOn: false })?.wakeMs).toBe(50);
    const tried = roundEnded(called, failed(2))?.state ?? held;
    expect([tried.lease, isRestarted(tried), isPaused(tried, 50)]).toEqual([undefined, false, true]);
  });
});

describe('a run that has put events into the list', () => {
  test('calls the holder, once; where there is none it has the lease', () => {
    const called = leaseOrSignal(held, ring('b', 5)) ?? untouched;
    expect([called.lease?.owner, called.isCalled]).toEqual(['a', true]);
    expect(leaseOrSignal(called, ring('c', 5))).toBeUndefined();
    expect(leaseOrSignal({ ...untouched, isCalled: true }, ring('b', 5))).toMatchObject({
      lease: { owner: 'b' },
      isCalled: false,
    });
  });

  test('leaves a pause to the wake for its end, and takes the lease to send one', () => {
    const paused = { ...untouched, pausedUntilMs: 5_000 };
    expect(leaseOrSignal({ ...paused, wakeAtMs: 6_000 }, ring('b', 10))).toBeUndefined();
    expect(leaseOrSignal({ ...paused, wakeAtMs: 6_001 }, ring('b', 10))?.lease?.owner).toBe('b');
    expect(leaseOrSignal({ ...paused, wakeAtMs: 10 }, ring('b', 10))?.lease?.owner).toBe('b');
    expect(leaseOrSignal(paused, ring('b', 10))?.lease?.owner).toBe('b');
  });

  test('having put nothing, looks only where something may wait', () => {
    const quiet = { ...ring('b', 10), hasPut: false };
    expect(leaseOrSignal(untouched, quiet)).toBeUndefined();
    expect(leaseOrSignal(held, quiet)).toBeUndefined();
    expect(leaseOrSignal({ ...untouched, isCalled: true }, quiet)?.lease?.owner).toBe('b');
    expect(leaseOrSignal(held, { ...quiet, nowMs: 40_000 })?.lease?.owner).toBe('b');
  });
});

describe('a run that was woken', () => {
  test('takes the lease, and its wake is noted no longer, whatever its clock says; a later one is', () => {
    expect(leaseOrSignal({ ...untouched, wakeAtMs: 2_010 }, woken('b', 10))).toMatchObject({
      wakeAtMs: 0,
      lease: { owner: 'b' },
    });
    expect(leaseOrSignal({ ...untouched, wakeAtMs: 2_011 }, woken('b', 10))?.wakeAtMs).toBe(2_011);
  });

  test('changes a state that is held in any case: a holder that is noting this wake must see that it has come', () => {
    const called = { ...held, isCalled: true };
    expect(leaseOrSignal(called, woken('b', 5))).toEqual(called);
    expect(leaseOrSignal(called, ring('b', 5))).toBeUndefined();
  });

  test('in a pause trusts another wake, and not its own', () => {
    const paused = { ...untouched, pausedUntilMs: 60_000 };
    expect(leaseOrSignal({ ...paused, wakeAtMs: 60_000 }, woken('b', 10))).toBeUndefined();
    expect(leaseOrSignal({ ...paused, wakeAtMs: 11 }, woken('b', 10))?.lease?.owner).toBe('b');
  });
});

describe('after a round', () => {
  test('with nothing left the lease is free, and a wake that is on its way stays noted', () => {
    const { state, wakeMs } = roundEnded({ ...held, wakeAtMs: 900_000 }, closing('a', 50)) ?? { state: held };
    expect([state.lease, state.isCalled, state.wakeAtMs, state.lastSuccessMs, wakeMs]).toEqual([
      undefined,
      false,
      900_000,
      50,
      undefined,
    ]);
  });

  test('a call, or what has become due, is another round while there is time', () => {
    const called = { ...held, isCalled: true };
    expect(roundEnded(called, closing('a', 50))?.state).toMatchObject({ lease: { owner: 'a' }, isCalled: false });
    // The call counts even when the rest of the round is due later.
    expect(roundEnded(called, closing('a', 50, 7_000))?.state).toMatchObject({
      lease: { owner: 'a' },
      isCalled: false,
    });
    expect(roundEnded(held, closing('a', 50, 50))?.state).toMatchObject({ lease: { owner: 'a' }, isCalled: false });
    const late = roundEnded(called, { ...closing('a', 50), mayGoOn: false });
    expect(late).toMatchObject({ state: { isCalled: true }, wakeMs: 50 });
    expect(late?.state.lease).toBeUndefined();
  });

  test('what waits for later gets a wake: one that is on its way early enough, or one that is sent before', () => {
    expect(roundEnded(held, closing('a', 50, 7_000))?.wakeMs).toBe(7_000);
    expect(roundEnded({ ...held, wakeAtMs: 8_001 }, closing('a', 50, 7_000))?.wakeMs).toBe(7_000);
    expect(roundEnded({ ...held, wakeAtMs: 50 }, closing('a', 50, 7_000))?.wakeMs).toBe(7_000);
    expect(roundEnded({ ...held, wakeAtMs: 8_000 }, closing('a', 50, 7_000))).not.toHaveProperty('wakeMs');
    const sent = roundEnded(held, { ...closing('a', 50, 7_000), sentMs: 7_050 });
    expect(sent).toMatchObject({ state: { wakeAtMs: 7_050, isCalled: false } });
    expect(sent).not.toHaveProperty('wakeMs');
  });

  test('a failure ends it: the wake is for the end of the pause, and what is due stays called', () => {
    const failed = roundEnded(held, { ...closing('a', 50), round: { ...nothing, failure, dueMs: 50 } });
    expect(failed).toMatchObject({ wakeMs: 5_050, state: { isCalled: true, pausedUntilMs: 5_050 } });
  });

  test('a lease that another run has taken over is not given back; one that it died with is a call', () => {
    const other = leaseOrSignal(held, ring('b', 40_000)) ?? untouched;
    expect(roundEnded(other, closing('a', 40_001))).toBeUndefined();
    expect(roundEnded(other, closing('a', 80_000))).toMatchObject({ wakeMs: 80_000, state: { isCalled: true } });
  });

  test('a lease that another run has taken over and left is no call: what this run leaves gets its wake', () => {
    expect(roundEnded(untouched, closing('a', 50))).toEqual({ state: { ...untouched, lastSuccessMs: 50 } });
    expect(roundEnded(untouched, closing('a', 50, 7_000))).toMatchObject({ wakeMs: 7_000, state: { isCalled: false } });
  });
});

test('messages that a holder has are acknowledged by no other run while it may live', () => {
  const twice: Run = { owner: 'b', messages: ['message of a', 'message of b'] };
  expect(messagesOfHolder(held, twice, 39_999)).toEqual(['message of a']);
  expect(messagesOfHolder(held, twice, 40_000)).toEqual([]);
  expect(messagesOfHolder(held, run('a'), 5)).toEqual([]);
  expect(messagesOfHolder(untouched, twice, 5)).toEqual([]);
});

describe('how much at once', () => {
  const well = afterSuccess(untouched, 0);
  const minuteMs = 60_000;

  test('a receiver that is unknown or has failed is probed; one that answered gets twenty posts', () => {
    expect([untouched, failing(1), well].map(needsProbe)).toEqual([true, true, false]);
    expect(widthOf(well)).toBe(20);
  });

  test('what fails under a load gets half as much, once for each time that it was well; ten minutes later twice that', () => {
    let state = well;
    const widths: number[] = [];
    for (const _ of Array.from({ length: 5 })) {
      state = afterFailure(afterFailure(state, failure, 0), failure, 0);
      state = afterSuccess(state, 0);
      widths.push(widthOf(state));
    }
    expect(widths).toEqual([10, 5, 2, 1, 1]);
    expect(widthOf(afterSuccess(state, 10 * minuteMs - 1))).toBe(1);
    const wider: number[] = [];
    for (const times of [1, 2, 3, 4, 5, 6]) {
      state = afterSuccess(state, times * 10 * minuteMs);
      wider.push(widthOf(state));
    }
    expect(wider).toEqual([2, 4, 8, 16, 20, 20]);
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
    expect(leaseForFresh(state, run('a'), ms - 1)).toBeUndefined();
    expect(leaseForFresh(state, run('a'), ms)).toBeDefined();
  });

  test('a receiver that gets too much is left alone for a minute, or as long as it asks', () => {
    expect(afterFailure(untouched, { ...failure, overloaded: true }, 0).pausedUntilMs).toBe(60_000);
    expect(afterFailure(untouched, { ...failure, retryAfterMs: 90_000 }, 0).pausedUntilMs).toBe(90_000);
    expect(afterFailure(untouched, { ...failure, retryAfterMs: 1_000 }, 0).pausedUntilMs).toBe(5_000);
    expect(afterFailure(untouched, { ...failure, retryAfterMs: 43_200_000 }, 0).pausedUntilMs).toBe(3_600_000);
  });

  test('a success ends it', () => {
    const well = afterSuccess(failing(9), 77);
    expect(well).toEqual({ ...untouched, lastSuccessMs: 77 });
    expect(leaseForFresh(well, run('a'), 78)).toBeDefined();
  });
});

describe('five days of nothing but failures', () => {
  /** Fails every `everyMs`, and for the last time at `untilMs`. */
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

  test('one success begins them again', () => {
    const state = afterFailure(afterSuccess(failingEvery(dayMs, 4 * dayMs), 4 * dayMs), failure, 5 * dayMs);
    expect(isHopeless(state, 5 * dayMs)).toBe(false);
  });

  test('two failures with nothing tried in between are no five days; two days apart is one run of failures', () => {
    expect(isHopeless(failingEvery(2 * dayMs, 6 * dayMs), 6 * dayMs)).toBe(true);
    expect(isHopeless(failingEvery(6 * dayMs, 6 * dayMs), 6 * dayMs)).toBe(false);
  });

  test('no failure at all', () => {
    expect(isHopeless(untouched, 10 * dayMs)).toBe(false);
  });
});

describe('a run of failures is told to its client (D34)', () => {
  const minuteMs = 60_000;
  const long = { ...failing(3), failingSinceMs: 7 };

  test.each([
    ['after 15 minutes and three failures', long, 15 * minuteMs + 7, 7],
    ['not a moment sooner', long, 15 * minuteMs + 6, undefined],
    ['not after two failures', { ...long, consecutiveFailures: 2 }, dayMs, undefined],
    ['not twice', { ...long, notifiedFailingSinceMs: 7 }, dayMs, undefined],
    ['though an earlier one was', { ...long, notifiedFailingSinceMs: 6 }, dayMs, 7],
    ['not once it is over', afterSuccess(long, 8), dayMs, undefined],
  ])('%s', (_, state, nowMs, sinceMs) => {
    expect(unnotifiedFailingSinceMs(state, nowMs)).toBe(sinceMs);
  });

  test('only by its own failures, not by those before a gap of more than two days', () => {
    const begunMs = 3 * dayMs;
    const laterMs = [0, 30 * minuteMs, 60 * minuteMs];
    const told: (number | undefined)[] = [];
    let state: DeliveryState = failing(3);
    for (const ms of laterMs) {
      state = afterFailure(state, failure, begunMs + ms);
      told.push(unnotifiedFailingSinceMs(state, begunMs + ms));
    }
    expect(told).toEqual([undefined, undefined, begunMs]);
    expect(afterFailure(failing(9), failure, begunMs).pausedUntilMs).toBe(begunMs + 5_000);
  });

  test('and noted with the round that has stored its event', () => {
    const noted = roundEnded({ ...held, ...long }, { ...closing('a', 50), round: { ...nothing, failure } });
    expect(noted?.state.notifiedFailingSinceMs).toBeUndefined();
    const told = { ...nothing, failure, notifiedFailingSinceMs: 7 };
    expect(roundEnded({ ...held, ...long }, { ...closing('a', 50), round: told })?.state.notifiedFailingSinceMs).toBe(
      7,
    );
  });
});
