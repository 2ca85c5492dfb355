import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { ClientBudget } from '../client-budget.ts';
import { type Holding, nextLease, nothingHeld, standingOf, windowOf, withLease, withoutOne } from './lease.ts';

/** Where the leases of a client's minute are counted. */
export interface LeaseCounter {
  /**
   * Leases `size` requests where fewer than `limit` are leased, and answers how many were before; `limit` where nothing
   * was left, and then nothing is written. One write. Throws when it cannot say, in about a second.
   */
  lease(of: { readonly clientId: number; readonly window: number }, size: number, limit: number): Promise<number>;
}

/** A counter that did not answer is left alone for so long, that not every request waits for it. */
const pauseMs = 10_000;

/** The budget of each client, of `limit` requests a minute, as one process keeps it in memory. */
export function leasedBudget(counter: LeaseCounter, limit: number): ClientBudget {
  let current = { window: Number.NaN, holdings: new Map<number, Holding>() };
  let failedAtMs: number | undefined;

  async function leasedBefore(clientId: number, size: number, nowMs: number): Promise<number | undefined> {
    // Either way: a clock that was set back must not keep the counter away for long.
    if (failedAtMs !== undefined && Math.abs(nowMs - failedAtMs) < pauseMs) return undefined;
    try {
      const before = await counter.lease({ clientId, window: windowOf(nowMs) }, size, limit);
      failedAtMs = undefined;
      return before;
    } catch (error) {
      if (failedAtMs === undefined) log('budget.not_leased', { clientId, error: nameOf(error) });
      failedAtMs = nowMs;
      return undefined;
    }
  }

  return {
    spend: async (clientId, nowMs) => {
      if (windowOf(nowMs) !== current.window) current = { window: windowOf(nowMs), holdings: new Map() };
      const { holdings } = current;
      const held = () => holdings.get(clientId) ?? nothingHeld;

      const size = nextLease(held(), limit);
      if (size > 0) {
        const before = await leasedBefore(clientId, size, nowMs);
        if (before === undefined) {
          count('RequestsNotBudgeted');
          return standingOf(held(), { allowed: true, limit, nowMs });
        }
        holdings.set(clientId, withLease(held(), { size, leasedBefore: before }, limit));
      }

      const allowed = held().left > 0;
      if (allowed) holdings.set(clientId, withoutOne(held()));
      return standingOf(held(), { allowed, limit, nowMs });
    },
  };
}
