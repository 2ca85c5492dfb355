import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { ClientBudget, Spender } from '../client-budget.ts';
import {
  companyIn,
  type Holding,
  halfOf,
  type Lease,
  type Leased,
  nextStep,
  nothingHeld,
  standingOf,
  windowOf,
  withLease,
  withLook,
  withoutOne,
} from './lease.ts';

/** A user's minute. */
export type UserMinute = Spender & { readonly window: number };

/** Where the leases of a client's minute are counted. Throws when it cannot say, in about a second. */
export interface LeaseCounter {
  /**
   * Leases `size` requests, at most `half`, where that leaves the user within `half`, and with `evenAll` also where no other
   * user was seen in the minute; else nothing is written. One write.
   */
  lease(of: UserMinute, size: number, most: { readonly half: number; readonly evenAll: boolean }): Promise<Lease>;
  /** What is leased of a minute. One read. */
  look(at: UserMinute): Promise<Leased>;
}

/** A counter that did not answer is left alone for so long, that not every request waits for it. */
const pauseMs = 10_000;

/**
 * A request that asks more often passes uncounted. It asks once at the most, but for a user who comes to half: a lease is
 * refused when other processes have leased meanwhile, and the minute before is looked at.
 */
const mostQuestions = 6;

/** What a process holds in a minute for each user of each client. */
type Holdings = Map<number, Map<string, Holding>>;

/** The budget of each client and its users, of `limit` requests a minute, as one process keeps it in memory. */
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

  /** What the counter answers; undefined when it does not. */
  async function answerOf<T>(question: () => Promise<T>, clientId: number, nowMs: number): Promise<T | undefined> {
    // Either way: a clock that was set back must not keep the counter away for long.
    if (failedAtMs !== undefined && Math.abs(nowMs - failedAtMs) < pauseMs) return undefined;
    try {
      const answer = await question();
      failedAtMs = undefined;
      return answer;
    } catch (error) {
      if (failedAtMs === undefined) log('budget.not_leased', { clientId, error: nameOf(error) });
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
      const fresh = { ...nothingHeld, company: companyIn(before.get(clientId), userId) };
      const held = () => users.get(userId) ?? fresh;
      const standing = (allowed: boolean) => standingOf(held(), { allowed, limit, nowMs });

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
