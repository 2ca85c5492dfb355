import { describe, expect, test } from 'vitest';
import { clockSkewMs, leaseMs } from '../../../../lib/templates/sync/sync-lock.ts';
import {
  answerTo,
  keptMs,
  type LockState,
  maxWaiting,
  rememberedMs,
  type Waiting,
} from '../../../../lib/templates/sync/sync-turns.ts';

const startMs = 1_000_000;

/** Run 7, that `a` has had since `startMs`; or has ended at `releasedAtMs`. */
function lock(changes: Partial<LockState> = {}): LockState {
  const leaseUntilMs = changes.releasedAtMs === undefined ? startMs + leaseMs : 0;
  const runs = new Map([['a', 7]]);
  return { owner: 'a1', fence: 7, leaseUntilMs, releasedAtMs: undefined, runs, waiting: new Map(), ...changes };
}

const waitingSince = (sinceRun: number, askedAtMs: number): Waiting => ({ sinceRun, askedAtMs });
const ask = (state: LockState | undefined, contender: string, nowMs: number, owner = `${contender}2`) =>
  answerTo(state, { owner, contender, nowMs });
const refusedWith = (waiting: Waiting | undefined, forgotten: readonly string[] = []) => ({
  kind: 'refused',
  fence: 7,
  waiting,
  forgotten,
});

test('the first run of all is number 1', () => {
  expect(ask(undefined, 'a', startMs)).toEqual({
    kind: 'acquired',
    state: {
      owner: 'a2',
      fence: 1,
      leaseUntilMs: startMs + leaseMs,
      releasedAtMs: undefined,
      runs: new Map([['a', 1]]),
      waiting: new Map(),
    },
  });
});

describe('a lock that is held', () => {
  test('is the holder’s own to the end of its lease, by every clock, and anybody’s after it', () => {
    const overMs = startMs + leaseMs + clockSkewMs;
    expect(ask(lock(), 'a', overMs, 'a1')).toEqual({ kind: 'held_already', fence: 7 });
    expect(ask(lock(), 'b', overMs)).toMatchObject({ kind: 'refused' });
    expect(ask(lock(), 'a', overMs + 1, 'a1')).toMatchObject({ kind: 'acquired', state: { fence: 8, owner: 'a1' } });
    expect(ask(lock(), 'b', overMs + 1)).toMatchObject({ kind: 'acquired', state: { fence: 8, owner: 'b2' } });
  });

  test('is refused to everybody else, who waits from this run on; not to the holder’s own next request', () => {
    expect(ask(lock(), 'b', startMs + 5)).toEqual(refusedWith(waitingSince(7, startMs + 5)));
    expect(ask(lock(), 'a', startMs + 5)).toEqual(refusedWith(undefined));
  });

  test('is asked for again: the time is written down anew after a second', () => {
    const waiting = new Map([['b', waitingSince(6, startMs)]]);
    expect(ask(lock({ waiting }), 'b', startMs + 999)).toEqual(refusedWith(undefined));
    expect(ask(lock({ waiting }), 'b', startMs + 1_000)).toEqual(refusedWith(waitingSince(6, startMs + 1_000)));
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
    const full = lock({ waiting: waitingOf(nowMs - rememberedMs) });
    expect(ask(full, 'b', nowMs)).toEqual(refusedWith(undefined));
    const over = lock({ waiting: waitingOf(nowMs - rememberedMs - 1) });
    expect(ask(over, 'b', nowMs)).toEqual(refusedWith(waitingSince(7, nowMs), ['w0']));
    // One who was forgotten begins to wait anew.
    expect(ask(over, 'w0', nowMs)).toEqual(refusedWith(waitingSince(7, nowMs), ['w0']));
  });
});

describe('a lock that was given back', () => {
  const releasedAtMs = startMs + 1_000;
  const b = waitingSince(7, startMs + 500);

  test('is anybody’s when nobody waits, also that of the same owner', () => {
    expect(ask(lock({ releasedAtMs }), 'a', releasedAtMs, 'a1')).toEqual({
      kind: 'acquired',
      state: {
        owner: 'a1',
        fence: 8,
        leaseUntilMs: releasedAtMs + leaseMs,
        releasedAtMs: undefined,
        runs: new Map([['a', 8]]),
        waiting: new Map(),
      },
    });
  });

  test('is kept for 5 s for who was refused: the former holder and strangers wait for the run after', () => {
    const kept = lock({ releasedAtMs, waiting: new Map([['b', b]]) });
    const nowMs = releasedAtMs + keptMs - 1;
    for (const other of ['a', 'stranger']) {
      expect(ask(kept, other, nowMs)).toEqual(refusedWith(waitingSince(8, nowMs)));
      expect(ask(kept, other, nowMs + 1)).toMatchObject({ kind: 'acquired' });
    }
    expect(ask(kept, 'b', nowMs)).toEqual({
      kind: 'acquired',
      state: {
        owner: 'b2',
        fence: 8,
        leaseUntilMs: nowMs + leaseMs,
        releasedAtMs: undefined,
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
    expect(ask(kept, 'a', startMs)).toMatchObject({ kind: 'refused' });
    const { kind, state } = ask(kept, 'a', startMs + 1) as { kind: string; state: LockState };
    expect([kind, state.waiting.size]).toEqual(['acquired', 0]);
  });

  test.each([
    ['who has had a run since the other waits', 7, 'refused'],
    ['who has had its last run before', 6, 'acquired'],
    ['who has had none', undefined, 'acquired'],
  ])('of two who wait, %s: %j', (_, latestRun, kind) => {
    const runs = new Map(latestRun === undefined ? [] : [['c', latestRun]]);
    const waiting = new Map([
      ['b', b],
      ['c', waitingSince(8, startMs + 900)],
    ]);
    expect(ask(lock({ releasedAtMs, runs, waiting }), 'c', releasedAtMs + 1)).toMatchObject({ kind });
  });

  test('who let the 5 s pass is waited for no more; who has asked since stays', () => {
    const waiting = new Map([
      ['b', waitingSince(7, releasedAtMs)],
      ['c', waitingSince(7, releasedAtMs + 1)],
    ]);
    const passed = ask(lock({ releasedAtMs, waiting }), 'a', releasedAtMs + keptMs);
    expect(passed).toMatchObject({ kind: 'acquired', state: { waiting: new Map([...waiting].slice(1)) } });
    const earlier = ask(lock({ releasedAtMs, waiting }), 'c', releasedAtMs + keptMs - 1);
    expect(earlier).toMatchObject({ kind: 'acquired', state: { waiting: new Map([...waiting].slice(0, 1)) } });
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
    const { state } = ask(lock({ releasedAtMs, runs, waiting }), 'b', releasedAtMs + 1) as { state: LockState };
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
    kind: 'acquired',
    state: { waiting },
  });
});
