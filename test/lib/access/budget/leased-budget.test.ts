import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { windowMs, windowOf } from '../../../../lib/access/budget/lease.ts';
import { leasedBudget } from '../../../../lib/access/budget/leased-budget.ts';
import type { BudgetStatus, ClientBudget } from '../../../../lib/access/client-budget.ts';
import { countedBy } from '../../../support/counted.ts';
import { leasesInMemory, type MemoryLeases } from '../../../support/memory-leases.ts';

const startMs = Date.UTC(2026, 10, 22, 10);
const limits = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(99, 100, 300, 1_000));
/** Two clocks differ by a minute at most. */
const clocks = fc.array(fc.integer({ min: -30_000, max: 30_000 }), { minLength: 1, maxLength: 8 });

let lines: string[];

beforeEach(() => {
  lines = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

interface Request {
  readonly process: number;
  readonly afterMs: number;
  /** The client has one user unless a test says otherwise. */
  readonly user?: number;
}

const userOf = (user = 0, clientId = 1001) => ({ clientId, userId: `u-${user}` });

const requests = (longestPauseMs: number, maxLength = 600) =>
  fc.array(fc.record({ process: fc.nat(7), afterMs: fc.integer({ min: 0, max: longestPauseMs }) }), {
    minLength: maxLength / 2,
    maxLength,
  });

interface Served {
  readonly atMs: number;
  /** Each process takes the minute from its own clock. */
  readonly window: number;
  readonly user: number;
  readonly allowed: boolean;
  readonly standing: BudgetStatus;
}

/** Serves one client's requests in order, each at a process with its own memory and clock. */
async function serve(
  schedule: readonly Request[],
  world: {
    readonly limit: number;
    readonly clocksMs: readonly number[];
    readonly leases: MemoryLeases;
    readonly before?: (index: number) => void;
  },
): Promise<Served[]> {
  const { limit, clocksMs, leases, before } = world;
  const processes = clocksMs.map((asideMs) => ({ asideMs, budget: leasedBudget(leases, limit) }));
  const served: Served[] = [];
  let atMs = startMs;
  for (const [index, { process, afterMs, user = 0 }] of schedule.entries()) {
    before?.(index);
    atMs += afterMs;
    const { asideMs, budget } = processes[process % processes.length] as (typeof processes)[number];
    const callsBefore = leases.calls;
    const standing = await budget.spend(userOf(user), atMs + asideMs);
    expect(leases.calls - callsBefore).toBeLessThanOrEqual(3);
    const allowed = standing.verdict === 'allowed';
    served.push({ atMs, window: windowOf(atMs + asideMs), user, allowed, standing });
  }
  return served;
}

function countBy<T>(all: readonly T[], keyOf: (each: T) => number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const each of all) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1);
  return counts;
}

function mostInAMinute(times: readonly number[]): number {
  let from = 0;
  return times.reduce((most, atMs, to) => {
    while (atMs - (times[from] ?? atMs) >= windowMs) from += 1;
    return Math.max(most, to - from + 1);
  }, 0);
}

describe('processes with clocks apart, and one budget (D54)', () => {
  it('let through no more than the budget in a minute of theirs, and three times of it in any stretch of 60 s', async () => {
    let full = 0;
    await fc.assert(
      fc.asyncProperty(limits, clocks, requests(400), async (limit, clocksMs, schedule) => {
        const served = await serve(schedule, { limit, clocksMs, leases: leasesInMemory() });
        const allowed = served.filter((each) => each.allowed);
        const most = Math.max(...countBy(allowed, ({ window }) => window).values());
        expect(most).toBeLessThanOrEqual(limit);
        if (most === limit) full += 1;
        expect(mostInAMinute(allowed.map(({ atMs }) => atMs))).toBeLessThanOrEqual(3 * limit);
      }),
      { numRuns: 60 },
    );
    // The property proves nothing unless the budgets were used up.
    expect(full).toBeGreaterThan(10);
  });

  it('see it twice in a stretch of 60 s at most where their clocks agree', async () => {
    await fc.assert(
      fc.asyncProperty(limits, requests(400), async (limit, schedule) => {
        const served = await serve(schedule, { limit, clocksMs: [0, 0, 0, 0], leases: leasesInMemory() });
        const times = served.filter(({ allowed }) => allowed).map(({ atMs }) => atMs);
        expect(mostInAMinute(times)).toBeLessThanOrEqual(2 * limit);
      }),
      { numRuns: 40 },
    );
  });

  it('refuse no request before half of it is used', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(limits, clocks, requests(200), async (limit, clocksMs, schedule) => {
        const used = new Map<number, number>();
        for (const { window, allowed } of await serve(schedule, { limit, clocksMs, leases: leasesInMemory() })) {
          const before = used.get(window) ?? 0;
          if (allowed) used.set(window, before + 1);
          else refused += 1;
          if (!allowed) expect(2 * before).toBeGreaterThanOrEqual(limit);
        }
      }),
      { numRuns: 60 },
    );
    expect(refused).toBeGreaterThan(100);
  });

  it('ask for what is used up no more than once each, and for the rest seldom', async () => {
    const [limit, clocksMs] = [3_000, Array.from({ length: 7 }, () => 0)];
    const flood = Array.from({ length: 9_000 }, (_, index) => ({ process: index, afterMs: 6 }));
    const leases = leasesInMemory();
    const served = await serve(flood, { limit, clocksMs, leases });
    expect(served.filter(({ allowed }) => allowed)).toHaveLength(limit);
    expect(leases.calls).toBeLessThan(400);
  });

  it('take one request each when each serves a client once: two hundred cold ones do not use up three hundred', async () => {
    const clocksMs = Array.from({ length: 200 }, () => 0);
    const once = clocksMs.map((_, process) => ({ process, afterMs: 0 }));
    const served = await serve(once, { limit: 300, clocksMs, leases: leasesInMemory() });
    expect(served.filter(({ allowed }) => !allowed)).toEqual([]);
  });

  it('keep less than a hundredth of it when they hear nothing more of the client', async () => {
    const limit = 3_000;
    const leases = leasesInMemory();
    const [gone, staying] = [leasedBudget(leases, limit), leasedBudget(leases, limit)];
    let used = 0;
    // A process holds the most right after a lease.
    for (let hasLeased = false; used < 1_000 || !hasLeased; used += 1) {
      const before = leases.calls;
      await gone.spend(userOf(), startMs);
      hasLeased = leases.calls > before;
    }
    while (used < 2 * limit && (await staying.spend(userOf(), startMs)).verdict === 'allowed') used += 1;
    expect(used).toBeGreaterThan(limit - limit / 100);
    expect(used).toBeLessThanOrEqual(limit);
  });

  it('count for the minute that they date a request to, also where a clock is set back', async () => {
    const budget = leasedBudget(leasesInMemory(), 1);
    const asked = [startMs + windowMs, startMs, startMs + windowMs, startMs];
    const allowed = [];
    for (const atMs of asked) allowed.push((await budget.spend(userOf(), atMs)).verdict === 'allowed');
    expect(allowed).toEqual([true, true, false, false]);
  });

  it('keep to it also where one of them serves many at once', async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.integer({ min: 1, max: 60 }), async (limit, atOnce) => {
        const budget = leasedBudget(leasesInMemory(), limit);
        let allowed = 0;
        for (let round = 0; round < 20; round += 1) {
          const standings = await Promise.all(Array.from({ length: atOnce }, () => budget.spend(userOf(), startMs)));
          allowed += standings.filter(({ verdict }) => verdict === 'allowed').length;
        }
        expect(allowed).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 40 },
    );
  });

  it('keep to it when replies are lost: what is counted as passed uncounted comes on top, and nothing else', async () => {
    const fault = fc.constantFrom(undefined, undefined, 'unanswered' as const, 'lost_reply' as const);
    const faults = fc.array(fault, { minLength: 20, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(limits, requests(90), faults, async (limit, schedule, planned) => {
        const leases = leasesInMemory();
        const before = (index: number) => {
          leases.fault = planned[Math.floor(index / 30)];
        };
        let served: Served[] = [];
        const [line] = await countedBy(async () => {
          served = await serve(schedule, { limit, clocksMs: [0, 0, 0], leases, before });
        });
        const allowed = served.filter((each) => each.allowed).length;
        expect(new Set(served.map(({ window }) => window)).size).toBe(1);
        expect(allowed - Number(line?.['RequestsNotBudgeted'] ?? 0)).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 40 },
    );
  });
});

it('what a client floods takes nothing from another: it stands as if it were alone (D54)', async () => {
  await fc.assert(
    fc.asyncProperty(limits, requests(300, 120), fc.integer({ min: 1, max: 20 }), async (limit, schedule, flood) => {
      const standings = async (flooding: number) => {
        const leases = leasesInMemory();
        const processes: readonly ClientBudget[] = [leasedBudget(leases, limit), leasedBudget(leases, limit)];
        const seen = [];
        let atMs = startMs;
        for (const { process, afterMs } of schedule) {
          atMs += afterMs;
          const budget = processes[process % 2] as ClientBudget;
          for (let index = 0; index < flooding; index += 1) await budget.spend(userOf(0, 1002), atMs);
          seen.push(await budget.spend(userOf(), atMs));
        }
        return seen;
      };
      expect(await standings(flood)).toEqual(await standings(0));
    }),
    { numRuns: 40 },
  );
});

describe('how a client stands', () => {
  const atMs = startMs + 12_345;

  it('is told with every request, and what is left is counted down', async () => {
    const budget = leasedBudget(leasesInMemory(), 3);
    const standing = { verdict: 'allowed', clientLimit: 3, limit: 3, resetSeconds: 48 };
    expect(await budget.spend(userOf(), atMs)).toEqual({ ...standing, remaining: 2 });
    expect(await budget.spend(userOf(), atMs)).toEqual({ ...standing, remaining: 1 });
    expect(await budget.spend(userOf(), atMs)).toEqual({ ...standing, remaining: 0 });
    expect(await budget.spend(userOf(), atMs)).toEqual({ ...standing, verdict: 'client_used_up', remaining: 0 });
    expect(await budget.spend(userOf(0, 1002), atMs)).toMatchObject({ verdict: 'allowed', remaining: 2 });
    expect(await budget.spend(userOf(), atMs + 48_000)).toMatchObject({ verdict: 'allowed', remaining: 2 });
  });

  it.each([
    [0, 60],
    [1, 60],
    [59_000, 1],
    [59_999, 1],
  ])('%i ms into a minute it is %i s to the next', async (passedMs, resetSeconds) => {
    const budget = leasedBudget(leasesInMemory(), 3);
    expect(await budget.spend(userOf(), startMs + passedMs)).toMatchObject({ resetSeconds });
  });
});

describe('a table that is away', () => {
  const asked = async (budget: ClientBudget, atMs: number) =>
    (await budget.spend(userOf(), atMs)).verdict === 'allowed';
  const events = () => lines.map((line) => JSON.parse(line).event);

  it('lets requests pass, is logged once, and is asked again every ten seconds', async () => {
    const leases = leasesInMemory();
    const budget = leasedBudget(leases, 1);
    leases.fault = 'unanswered';
    for (const afterMs of [0, 1, 5_000, 9_999, 10_000, 19_999])
      expect(await asked(budget, startMs + afterMs)).toBe(true);
    expect(leases.calls).toBe(2);
    expect(events()).toEqual(['budget.not_leased']);

    leases.fault = undefined;
    expect(await asked(budget, startMs + 20_000)).toBe(true);
    expect(await asked(budget, startMs + 20_001)).toBe(false);
    expect(leases.calls).toBe(3);

    leases.fault = 'unanswered';
    expect(await asked(budget, startMs + 60_000)).toBe(true);
    expect(events()).toEqual(['budget.not_leased', 'budget.not_leased']);
  });

  it('does not undo a refusal, and what was leased is still used up', async () => {
    const leases = leasesInMemory();
    const budget = leasedBudget(leases, 1);
    expect(await asked(budget, startMs)).toBe(true);
    expect(await asked(budget, startMs)).toBe(false);
    leases.fault = 'unanswered';
    expect(await asked(budget, startMs + 1_000)).toBe(false);
  });

  it('is asked again soon, though the clock was set back', async () => {
    const leases = leasesInMemory();
    const budget = leasedBudget(leases, 1);
    leases.fault = 'unanswered';
    await asked(budget, startMs + 3_600_000);
    leases.fault = undefined;
    await asked(budget, startMs);
    expect(leases.calls).toBe(2);
  });
});
