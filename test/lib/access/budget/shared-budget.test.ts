import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { halfOf, nothingHeld, windowMs, withLease } from '../../../../lib/access/budget/lease.ts';
import { leasedBudget } from '../../../../lib/access/budget/leased-budget.ts';
import { leasesInMemory } from '../../../support/memory-leases.ts';

/** The users of one client share its minute (D54). budget-explorer.test.ts explores every order of small numbers. */

const startMs = Date.UTC(2026, 10, 22, 10);

/** The processes share one table; requests go to them in turn unless a test names one. */
function service(limit: number, processes: number) {
  const leases = leasesInMemory();
  const budgets = Array.from({ length: processes }, () => leasedBudget(leases, limit));
  let asked = 0;
  const ask = async (userId: string, minute: number, process = asked) => {
    asked += 1;
    const budget = budgets[process % processes] as (typeof budgets)[number];
    return await budget.spend({ clientId: 1001, userId }, startMs + minute * windowMs);
  };
  /** Counts the requests of a flood that pass, and returns the last one's standing. */
  const flood = async (userId: string, minute: number, times: number) => {
    let allowed = 0;
    let last = await ask(userId, minute);
    for (let index = 1; ; index += 1) {
      if (last.verdict === 'allowed') allowed += 1;
      if (index === times) return { allowed, last };
      last = await ask(userId, minute);
    }
  };
  return { ask, flood, leases };
}

describe('a user who floods', () => {
  it('gets everything alone, leaves half to the others from the next minute on, and gets it back a minute after them', async () => {
    const { ask, flood, leases } = service(3_000, 7);
    expect((await flood('bot', 0, 4_000)).allowed).toBe(3_000);
    // Nothing is left, and a refused request makes its user active.
    expect(await ask('ana', 0)).toMatchObject({ verdict: 'client_used_up', limit: 1_500, remaining: 0 });

    for (const minute of [1, 2]) {
      const bot = await flood('bot', minute, 4_000);
      expect(bot.last).toMatchObject({ verdict: 'user_used_up', limit: 1_500, clientLimit: 3_000, remaining: 0 });
      expect(bot.allowed).toBe(1_500);
      const ana = await flood('ana', minute, 1_400);
      expect([ana.allowed, ana.last.verdict]).toEqual([1_400, 'allowed']);
    }
    expect((await flood('bot', 3, 4_000)).allowed).toBe(1_500);
    expect((await flood('bot', 4, 4_000)).allowed).toBe(3_000);
    // A request costs less than a twentieth of a write.
    expect(leases.calls).toBeLessThan(0.05 * 24_000);
  });

  it('gets nothing more once another comes, where half is used already', async () => {
    const { ask, flood } = service(100, 1);
    expect((await flood('bot', 0, 90)).last).toMatchObject({ verdict: 'allowed', limit: 100, remaining: 10 });
    expect(await ask('ana', 0)).toMatchObject({ verdict: 'allowed', limit: 50, remaining: 9 });
    expect(await ask('bot', 0)).toMatchObject({ verdict: 'user_used_up', limit: 50, remaining: 0 });
    expect(await flood('ana', 0, 10)).toMatchObject({ allowed: 9, last: { verdict: 'client_used_up', remaining: 0 } });
  });
});

test('a process that served several in the minute before says so from the first answer on, and does not look', async () => {
  const { ask, flood, leases } = service(100, 2);
  await ask('ana', 0, 0);
  await ask('bot', 0, 0);
  expect(await ask('bot', 1, 0)).toMatchObject({ limit: 50, remaining: 49 });
  // The other process learns of the users when half of the budget is used.
  expect(await ask('bot', 1, 1)).toMatchObject({ limit: 100, remaining: 98 });
  const before = leases.calls;
  expect(await flood('bot', 1, 60)).toMatchObject({ allowed: 48, last: { verdict: 'user_used_up' } });
  // Each request takes a lease; one more is refused, and one is a read.
  expect(leases.calls - before).toBe(48 + 2);
});

test('a process asks again when it is told no for what others have leased, and looks once a minute', async () => {
  const { ask, leases } = service(100, 2);
  for (let index = 0; index < 60; index += 1) await ask('ana', 0, 0);
  expect(leases.calls).toBe(61);
  for (const calls of [64, 65]) {
    expect((await ask('ana', 0, 1)).verdict).toBe('allowed');
    expect(leases.calls).toBe(calls);
  }
});

test('a counter that does not answer a look refuses no request', async () => {
  const { ask, flood, leases } = service(4, 1);
  await flood('ana', 0, 2);
  leases.fault = 'unanswered';
  expect((await ask('ana', 0)).verdict).toBe('allowed');
});

test.each([
  [8, { all: 8, own: 8 }],
  [8, { all: 100, own: 50 }],
  [5, { all: 103, own: 103 }],
  [0, { all: 108, own: 8 }],
])('%i of a lease of 8 that makes %j of 100 count', (left, leased) => {
  expect(withLease(nothingHeld, 8, { added: true, leased }, 100)).toEqual({
    ...nothingHeld,
    left,
    leaseSize: 8,
    leased,
  });
});

test('any users at any processes: the budget is kept, half is left to others, and a refusal is for a reason', async () => {
  const limits = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom(99, 200, 600));
  const request = fc.record({
    process: fc.nat(3),
    // Half of them come from one user.
    user: fc.constantFrom('bot', 'bot', 'bot', 'ana', 'ben', 'eve'),
    times: fc.constantFrom(1, 1, 5, 80, 300),
    minutes: fc.constantFrom(0, 0, 0, 0, 1, 1, 2),
  });
  let refusals = 0;
  await fc.assert(
    fc.asyncProperty(limits, fc.array(request, { minLength: 5, maxLength: 30 }), async (limit, schedule) => {
      const { ask } = service(limit, 4);
      const seen: Record<string, number>[] = [];
      let minute = 0;
      for (const { process, user, times, minutes } of schedule) {
        minute += minutes;
        const now = seen[minute] ?? {};
        seen[minute] = now;
        const others = (at: number) => Object.keys(seen[at] ?? {}).some((each) => each !== user);
        now[user] = now[user] ?? 0;
        for (let index = 0; index < times; index += 1) {
          const standing = await ask(user, minute, process);
          const all = Object.values(now).reduce((sum, each) => sum + each, 0);
          const shared = others(minute) || others(minute - 1);
          expect([limit, ...(shared ? [halfOf(limit)] : [])]).toContain(standing.limit);
          expect(standing.remaining).toBeLessThanOrEqual(standing.limit);
          if (standing.verdict === 'allowed') {
            now[user] = (now[user] ?? 0) + 1;
            expect(all + 1).toBeLessThanOrEqual(limit);
            if (others(minute - 1)) expect(now[user]).toBeLessThanOrEqual(halfOf(limit));
          } else {
            refusals += 1;
            expect(standing.remaining).toBe(0);
            // Processes never hold more for a user than they have let through.
            if (standing.verdict === 'client_used_up') expect(2 * all).toBeGreaterThanOrEqual(limit);
            else expect([shared, 2 * (now[user] ?? 0) >= halfOf(limit)]).toEqual([true, true]);
          }
        }
      }
    }),
    { numRuns: 60 },
  );
  expect(refusals).toBeGreaterThan(100);
});
