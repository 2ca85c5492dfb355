import { describe, expect, test } from 'vitest';
import { clockSkewMs, leaseMs } from '../../../../lib/templates/sync/sync-lock.ts';
import {
  answerTo,
  keptMs,
  type LockState,
  maxWaiting,
  noRuns,
  released,
  rememberedMs,
  renewed,
  type Waiting,
} from '../../../../lib/templates/sync/sync-lock-state.ts';

const startMs = 1_000_000;

/** Run 7 is held by `a` since `startMs`, or ended at `releasedAtMs`. */
function lock(changes: Partial<LockState> = {}): LockState {
  const held = changes.releasedAtMs === undefined ? { lease: { owner: 'a1', untilMs: startMs + leaseMs } } : {};
  return { ...held, fence: 7, runs: new Map([['a', 7]]), waiting: new Map(), ...changes };
}

const waitingSince = (sinceRun: number, askedAtMs: number): Waiting => ({ sinceRun, askedAtMs });
const ask = (state: LockState, contender: string, nowMs: number, owner = `${contender}2`) =>
  answerTo(state, { owner, contender, nowMs });

/** The contender is refused and waits from now on; without `waiting`, the lock is not written. */
function expectRefused(state: LockState, [contender, nowMs]: readonly [string, number], waiting?: object): void {
  const answer = ask(state, contender, nowMs);
  expect(answer.result).toBe('refused');
  if (waiting === undefined) expect(answer.state).toBe(state);
  else expect(answer.state).toEqual({ ...state, waiting: new Map(Object.entries(waiting)) });
}

test('the first run of all is number 1', () => {
  expect(ask(noRuns, 'a', startMs)).toEqual({
    result: 'acquired',
    state: {
      lease: { owner: 'a2', untilMs: startMs + leaseMs },
      fence: 1,
      runs: new Map([['a', 1]]),
      waiting: new Map(),
    },
  });
});

describe('a lock that is held', () => {
  test('is the holder’s own to the end of its lease, by every clock, and free after it', () => {
    const overMs = startMs + leaseMs + clockSkewMs;
    const held = lock();
    expect(ask(held, 'a', overMs - 1, 'a1')).toEqual({ state: held, result: 'held_already' });
    expect(ask(held, 'b', overMs - 1)).toMatchObject({ result: 'refused' });
    for (const owner of ['a1', 'b2']) {
      const next = { fence: 8, lease: { owner } };
      expect(ask(held, 'b', overMs, owner)).toMatchObject({ result: 'acquired', state: next });
    }
  });

  test('is refused to everybody else, who waits from this run on; not to the holder’s own next request', () => {
    expectRefused(lock(), ['b', startMs + 5], { b: waitingSince(7, startMs + 5) });
    expectRefused(lock(), ['a', startMs + 5]);
  });

  test('is asked for again: the time is written again after a second', () => {
    const held = lock({ waiting: new Map([['b', waitingSince(6, startMs)]]) });
    expectRefused(held, ['b', startMs + 999]);
    expectRefused(held, ['b', startMs + 1_000], { b: waitingSince(6, startMs + 1_000) });
  });

  test('forgets who has not asked for 30 s, and remembers no more than 20', () => {
    const nowMs = startMs + 40_000;
    const waitingOf = (firstAskedAtMs: number) =>
      new Map(
        Array.from({ length: maxWaiting }, (_, at) => [
          `w${at}`,
          waitingSince(7, at === 0 ? firstAskedAtMs : nowMs - at),
        ]),
      );
    expectRefused(lock({ waiting: waitingOf(nowMs - rememberedMs) }), ['b', nowMs]);
    const over = lock({ waiting: waitingOf(nowMs - rememberedMs - 1) });
    const { w0: _forgotten, ...others } = Object.fromEntries(over.waiting);
    expectRefused(over, ['b', nowMs], { ...others, b: waitingSince(7, nowMs) });
    // A forgotten contender starts to wait again.
    expectRefused(over, ['w0', nowMs], { ...others, w0: waitingSince(7, nowMs) });
  });

  test('is renewed and given back by its holder alone, also after its lease', () => {
    const held = lock();
    const holder = { name: 'sync', owner: 'a1', fence: 7 };
    const lateMs = startMs + 10 * leaseMs;
    expect(renewed(held, holder, lateMs)).toEqual({ ...held, lease: { owner: 'a1', untilMs: lateMs + leaseMs } });
    const { lease: _over, ...free } = held;
    expect(released(held, holder, lateMs)).toEqual({ ...free, releasedAtMs: lateMs });
    for (const change of [renewed, released]) {
      for (const other of [{ owner: 'b1' }, { fence: 6 }]) {
        expect(change(held, { ...holder, ...other }, lateMs)).toBe(held);
      }
      const over = lock({ releasedAtMs: startMs });
      expect(change(over, holder, lateMs)).toBe(over);
    }
  });
});

describe('a lock that was given back', () => {
  const releasedAtMs = startMs + 1_000;
  const b = waitingSince(7, startMs + 500);

  test('is free when no contender waits, for the same owner too', () => {
    expect(ask(lock({ releasedAtMs }), 'a', releasedAtMs, 'a1')).toEqual({
      result: 'acquired',
      state: {
        lease: { owner: 'a1', untilMs: releasedAtMs + leaseMs },
        fence: 8,
        runs: new Map([['a', 8]]),
        waiting: new Map(),
      },
    });
  });

  test('is kept for 5 s for who was refused: the former holder and strangers wait for the run after', () => {
    const kept = lock({ releasedAtMs, waiting: new Map([['b', b]]) });
    const nowMs = releasedAtMs + keptMs - 1;
    for (const other of ['a', 'stranger']) {
      expectRefused(kept, [other, nowMs], { b, [other]: waitingSince(8, nowMs) });
      expect(ask(kept, other, nowMs + 1)).toMatchObject({ result: 'acquired' });
    }
    expect(ask(kept, 'b', nowMs)).toEqual({
      result: 'acquired',
      state: {
        lease: { owner: 'b2', untilMs: nowMs + leaseMs },
        fence: 8,
        runs: new Map([
          ['a', 7],
          ['b', 8],
        ]),
        waiting: new Map(),
      },
    });
  });

  test('is not kept for who has not asked for 30 s', () => {
    const askedAtMs = startMs - rememberedMs;
    const kept = lock({ releasedAtMs: startMs - 1_000, waiting: new Map([['b', waitingSince(3, askedAtMs)]]) });
    expect(ask(kept, 'a', startMs)).toMatchObject({ result: 'refused' });
    const { result, state } = ask(kept, 'a', startMs + 1);
    expect([result, state.waiting.size]).toEqual(['acquired', 0]);
  });

  test.each([
    ['who has had a run since the other waits', 7, 'refused'],
    ['who has had its last run before', 6, 'acquired'],
    ['who has had none', undefined, 'acquired'],
  ])('of two who wait, %s: %j', (_, latestRun, result) => {
    const runs = new Map(latestRun === undefined ? [] : [['c', latestRun]]);
    const waiting = new Map([
      ['b', b],
      ['c', waitingSince(8, startMs + 900)],
    ]);
    expect(ask(lock({ releasedAtMs, runs, waiting }), 'c', releasedAtMs + 1)).toMatchObject({ result });
  });

  test('no run waits for a contender that let the 5 s pass; one that has asked since stays', () => {
    const waiting = new Map([
      ['b', waitingSince(7, releasedAtMs)],
      ['c', waitingSince(7, releasedAtMs + 1)],
    ]);
    const passed = ask(lock({ releasedAtMs, waiting }), 'a', releasedAtMs + keptMs);
    expect(passed).toMatchObject({ result: 'acquired', state: { waiting: new Map([...waiting].slice(1)) } });
    const earlier = ask(lock({ releasedAtMs, waiting }), 'c', releasedAtMs + keptMs - 1);
    expect(earlier).toMatchObject({ result: 'acquired', state: { waiting: new Map([...waiting].slice(0, 1)) } });
  });

  test('runs are remembered from when the first of those who wait began to', () => {
    const runs = new Map([
      ['a', 7],
      ['d', 5],
      ['e', 4],
    ]);
    const waiting = new Map([
      ['b', b],
      ['c', waitingSince(5, startMs + 500)],
    ]);
    const { state } = ask(lock({ releasedAtMs, runs, waiting }), 'b', releasedAtMs + 1);
    expect([...state.runs]).toEqual([
      ['a', 7],
      ['d', 5],
      ['b', 8],
    ]);
  });
});

test('of a holder that has died those who wait are remembered', () => {
  const waiting = new Map([['b', waitingSince(7, startMs + leaseMs)]]);
  expect(ask(lock({ waiting }), 'c', startMs + leaseMs + clockSkewMs + 1)).toMatchObject({
    result: 'acquired',
    state: { waiting },
  });
});
