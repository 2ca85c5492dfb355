import { expect, test } from 'vitest';
import { currentEarlyTurns, mayGoFirst, withEarlyTurn } from '../../../../lib/messages/pace/early-turns.ts';
import { lastTurnIn, type Segment } from '../../../../lib/messages/pace/segments.ts';

const nowMs = 1_800_000_000_000;
const lane = (clientId: number, count: number) => ({ clientId, lane: 'J', first: 0, count });
/** The turns are 30, 30 and 10 of client 1, then 30 and 30 of client 2. */
const due: Segment = { fromMs: nowMs, everyMs: 10, turn: 30, lanes: [lane(1, 40), lane(2, 100)] };

test('the last turn of a client begins after those of the others, and has what was left', () => {
  expect(lastTurnIn(due, 1)).toEqual({ fromMs: nowMs + 600, count: 10 });
  expect(lastTurnIn(due, 2)).toEqual({ fromMs: nowMs + 1_300, count: 10 });
  expect(lastTurnIn(due, 3)).toBeUndefined();
});

test('a client may lead from the moment on at which its time is over; another always', () => {
  const fronts = [{ clientId: 1, untilMs: nowMs }];
  expect([nowMs - 1, nowMs].map((fromMs) => mayGoFirst(fronts, 1, fromMs))).toEqual([false, true]);
  expect(mayGoFirst(fronts, 2, nowMs - 1)).toBe(true);
});

test('a client that leads again is remembered once, by its newer time', () => {
  const turn = { rest: [lane(2, 100), lane(3, 100)], fromMs: nowMs, count: 10, everyMs: 10 };
  const fronts = withEarlyTurn([{ clientId: 1, untilMs: 0 }], 1, turn);
  expect(fronts).toEqual([{ clientId: 1, untilMs: nowMs + 300 }]);
});

test('a client is remembered until its time is over, and while it waits; a turn that it has had since counts', () => {
  const past = [{ clientId: 1, untilMs: nowMs }];
  expect(currentEarlyTurns(past, { due: [], rest: [lane(2, 1)] }, nowMs - 1)).toEqual(past);
  expect(currentEarlyTurns(past, { due: [], rest: [lane(2, 1)] }, nowMs)).toEqual([]);
  expect(currentEarlyTurns(past, { due: [], rest: [lane(1, 1)] }, nowMs)).toEqual(past);
  expect(currentEarlyTurns(past, { due: [due], rest: [lane(2, 1)] }, nowMs)).toEqual([
    { clientId: 1, untilMs: nowMs + 800 },
  ]);
});
