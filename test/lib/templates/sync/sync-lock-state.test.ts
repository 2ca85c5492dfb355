import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clockSkewMs, leaseMs } from '../../../../lib/templates/sync/sync-lock.ts';
import { answerTo, keptMs, maxWaiting, noRuns, released } from '../../../../lib/templates/sync/sync-lock-state.ts';

/** Keeps the lock in memory, with the store's rules. */
function makeLock() {
  let state = noRuns;
  return {
    state: () => state,
    /** Returns whether the contender holds the lock now. */
    ask: (contender: string, nowMs: number): boolean => {
      const answer = answerTo(state, { owner: `${contender} at ${nowMs}`, contender, nowMs });
      state = answer.state;
      return answer.result === 'acquired';
    },
    release: (nowMs: number): void => {
      const { lease, fence } = state;
      if (lease !== undefined) state = released(state, { name: 'sync', owner: lease.owner, fence }, nowMs);
    },
  };
}

interface Looping {
  readonly name: string;
  readonly everyMs: number;
  readonly untilMs: number;
}

/** Runs clients in loops on one millisecond clock; counts each one's runs, and the time without any run. */
function simulate(
  clients: readonly Looping[],
  { runMs, untilMs }: { readonly runMs: number; readonly untilMs: number },
) {
  const lock = makeLock();
  const runs = new Map(clients.map(({ name }) => [name, 0]));
  let holderUntilMs: number | undefined;
  let [idleMs, longestIdleMs] = [0, 0];
  for (let nowMs = 0; nowMs < untilMs; nowMs += 1) {
    if (holderUntilMs === nowMs) {
      lock.release(nowMs);
      holderUntilMs = undefined;
    }
    for (const { name, everyMs, untilMs: asksUntilMs } of clients) {
      if (nowMs >= asksUntilMs || nowMs % everyMs !== 0) continue;
      if (!lock.ask(name, nowMs)) continue;
      expect(holderUntilMs, 'one at a time').toBeUndefined();
      holderUntilMs = nowMs + runMs;
      runs.set(name, (runs.get(name) ?? 0) + 1);
    }
    idleMs = holderUntilMs === undefined ? idleMs + 1 : 0;
    longestIdleMs = Math.max(longestIdleMs, idleMs);
  }
  return { counts: [...runs.values()], longestIdleMs };
}

const looping = (name: string, everyMs: number, untilMs = Number.POSITIVE_INFINITY): Looping => ({
  name,
  everyMs,
  untilMs,
});

test('two, three and five clients in loops, however quick each is, get equal numbers of runs within one (D22)', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 199 }), { minLength: 2, maxLength: 5 }), (periods) => {
      const clients = periods.map((everyMs, index) => looping(`client ${index}`, everyMs));
      const { counts } = simulate(clients, { runMs: 200, untilMs: 20_000 });
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      expect(Math.min(...counts)).toBeGreaterThan(5);
    }),
    { numRuns: 60 },
  );
});

test('a client that asks every 3 s has its run beside one that asks all the time', () => {
  const { counts } = simulate([looping('quick', 1), looping('walk', 3_000)], { runMs: 200, untilMs: 60_000 });
  expect(counts[1]).toBeGreaterThanOrEqual(9);
});

test('one who was refused and never comes back costs at most 5 s, once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 199 }), fc.integer({ min: 1, max: 5_000 }), (everyMs, untilMs) => {
      const gone = looping('gone', 50, untilMs);
      const alone = simulate([looping('stays', everyMs), gone], { runMs: 300, untilMs: untilMs + 12_000 });
      expect(alone.longestIdleMs).toBeLessThanOrEqual(keptMs + everyMs);
      const runsAfter = Math.floor((12_000 - keptMs - 300) / (300 + everyMs));
      expect(alone.counts[0]).toBeGreaterThanOrEqual(runsAfter - 1);
    }),
    { numRuns: 40 },
  );
});

test('a dead holder blocks no contender: the lock is free when the lease has ended (R27)', () => {
  const lock = makeLock();
  lock.ask('a', 0);
  lock.ask('b', leaseMs);
  const overMs = leaseMs + clockSkewMs;
  expect([lock.ask('c', overMs - 1), lock.ask('c', overMs)]).toEqual([false, true]);
});

type Step = readonly ['ask', string] | readonly ['release'] | readonly ['wait', number];

test('every history of three contenders up to seven steps: one of them can always go on, runs grow by one (R25, R28)', () => {
  const steps: readonly Step[] = [['ask', 'a'], ['ask', 'b'], ['ask', 'c'], ['release'], ['wait', keptMs]];
  const explore = (history: readonly Step[]): number => {
    const lock = makeLock();
    let [nowMs, held, fence] = [1_000, false, 0];
    for (const step of history) {
      nowMs += 1;
      if (step[0] === 'wait') nowMs += step[1];
      if (step[0] === 'release') [held] = [false, lock.release(nowMs)];
      if (step[0] !== 'ask') continue;
      const got = lock.ask(step[1], nowMs);
      if (got && held) throw new Error(`two holders: ${JSON.stringify(history)}`);
      fence += got ? 1 : 0;
      held ||= got;
      if (lock.state().fence !== fence) throw new Error(`fence: ${JSON.stringify(history)}`);
    }
    // Waiting contenders must not block each other for ever.
    const state = lock.state();
    const free = ['a', 'b', 'c', 'd'].filter(
      (contender) => answerTo(state, { owner: 'x', contender, nowMs: nowMs + 1 }).result === 'acquired',
    );
    if (!held && free.length === 0) throw new Error(`no contender can go on: ${JSON.stringify(history)}`);
    if (history.length === 7) return 1;
    return steps.reduce((sum, step) => sum + explore([...history, step]), 1);
  };
  expect(explore([])).toBe((5 ** 8 - 1) / 4);
});

test('over any history what is remembered stays bounded, and a contender waits only for a run after its own', () => {
  const anyStep = fc.tuple(
    fc.constantFrom('ask', 'ask', 'ask', 'release'),
    fc.nat(40),
    fc.constantFrom(1, 200, 4_000, 31_000),
  );
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 200 }), (steps) => {
      const lock = makeLock();
      let nowMs = 0;
      for (const [what, who, ms] of steps) {
        nowMs += ms;
        if (what === 'ask') lock.ask(`c${who}`, nowMs);
        else lock.release(nowMs);
        const { waiting, runs, fence } = lock.state();
        expect(waiting.size).toBeLessThanOrEqual(maxWaiting);
        for (const [contender, { sinceRun }] of waiting) expect(sinceRun).toBeGreaterThan(runs.get(contender) ?? 0);
        expect(runs.size).toBeLessThanOrEqual(fence);
      }
    }),
    { numRuns: 300 },
  );
});
