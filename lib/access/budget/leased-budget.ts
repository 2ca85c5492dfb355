import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { ClientBudget, Spender } from '../client-budget.ts';
import {
  budgetStatusOf,
  type Holding,
  halfOf,
  type Lease,
  type Leased,
  nextStep,
  nothingHeld,
  sawOtherUser,
  windowOf,
  withLease,
  withLook,
  withoutOne,
} from './lease.ts';

export type UserMinute = Spender & { readonly window: number };

/** The counter throws within about a second when it cannot answer. */
export interface LeaseCounter {
  /**
   * Leases `size` requests in one conditional write if the user stays within `half`, or, with `evenAll`, if no other
   * user was active in this minute.
   */
  lease(of: UserMinute, size: number, most: { readonly half: number; readonly evenAll: boolean }): Promise<Lease>;
  /** Reads once what is leased of a minute. */
  look(at: UserMinute): Promise<Leased>;
}

/** A failed answer pauses the counter (a circuit breaker), so that not every request waits for it. */
const pauseMs = 10_000;

/**
 * A request asks about once. A user near half asks more, because other processes lease meanwhile. Above this number the
 * request passes uncounted.
 */
const mostQuestions = 6;

type Holdings = Map<number, Map<string, Holding>>;

/** Keeps the budget of each client and its users, `limit` requests a minute, in this process. */
export function leasedBudget(counter: LeaseCounter, limit: number): ClientBudget {
  let current = { window: Number.NaN, holdings: new Map() as Holdings, before: new Map() as Holdings };
  let failedAtMs: number | undefined;

  function minuteAt(nowMs: number): typeof current {
    const window = windowOf(nowMs);
    if (window !== current.window) {
      const before = window === current.window + 1 ? current.holdings : new Map();
      current = { window, holdings: new Map(), before };
    }
    return current;
  }

  async function answerOf<T>(question: () => Promise<T>, clientId: number, nowMs: number): Promise<T | undefined> {
    // The absolute value counts, because a clock that was set back must not keep the counter away for long.
    if (failedAtMs !== undefined && Math.abs(nowMs - failedAtMs) < pauseMs) return undefined;
    try {
      const answer = await question();
      failedAtMs = undefined;
      return answer;
    } catch (error) {
      if (failedAtMs === undefined) log('budget.not_leased', { clientId, error: errorName(error) });
      failedAtMs = nowMs;
      return undefined;
    }
  }

  return {
    spend: async ({ clientId, userId }, nowMs) => {
      const { window, holdings, before } = minuteAt(nowMs);
      const minute = { clientId, userId, window };
      const users = holdings.get(clientId) ?? new Map<string, Holding>();
      holdings.set(clientId, users);
      const fresh = { ...nothingHeld, company: sawOtherUser(before.get(clientId), userId) };
      const held = () => users.get(userId) ?? fresh;
      const standing = (allowed: boolean) => budgetStatusOf(held(), { allowed, limit, nowMs });

      for (let asked = 0; asked < mostQuestions; asked += 1) {
        const step = nextStep(held(), limit);
        let next: Holding | undefined;
        if (step.do === 'refuse') return standing(false);
        if (step.do === 'allow') {
          users.set(userId, withoutOne(held()));
          return standing(true);
        }
        if (step.do === 'look') {
          const seen = await answerOf(() => counter.look({ ...minute, window: window - 1 }), clientId, nowMs);
          next = seen && withLook(held(), seen);
        } else {
          const { size, evenAll } = step;
          const most = { half: halfOf(limit), evenAll };
          const lease = await answerOf(() => counter.lease(minute, size, most), clientId, nowMs);
          next = lease && withLease(held(), size, lease, limit);
        }
        if (next === undefined) break;
        users.set(userId, next);
      }
      count('RequestsNotBudgeted');
      return standing(true);
    },
  };
}
