import type { Standing } from '../client-budget.ts';

/*
 * How many requests a client may make (D54): a budget for each minute of the clock, shared by all processes.
 *
 * A client's minute has one counter in a table. A process that has nothing left takes a lease of it, some requests at
 * once, and lets as many through from memory. The first lease of a minute is one request, each later one twice as many
 * as the last: who serves a client once costs it one request, however many such processes there are. None is larger
 * than a hundredth of the budget, or than a sixteenth of what is left of it: so little is left over in processes that
 * hear nothing more of the client. A budget that is used up is remembered, and asks the table nothing more.
 *
 * - Of all requests that processes date to one minute, never more than the budget are let through, however many
 *   processes there are. A stretch of 60 s touches two minutes, so it may see the budget twice; where clocks are apart,
 *   by up to a minute, three times. However long a stretch, it sees two budgets more than it has minutes.
 * - Nobody is refused before half of the budget is used: a process has never more left over than it has let through, and
 *   always less than a hundredth of the budget.
 *
 * What is let through because the table does not answer comes on top.
 */

export const windowMs = 60_000;

/** What a process knows of a client's budget in one minute. */
export interface Holding {
  /** Requests that it may let through without asking. */
  readonly left: number;
  /** The size of its last lease; 0 before the first. */
  readonly leaseSize: number;
  /** What all processes together had leased when it last asked. */
  readonly leased: number;
}

export const nothingHeld: Holding = { left: 0, leaseSize: 0, leased: 0 };

/** The minute of a time, counted from 1970. */
export function windowOf(nowMs: number): number {
  return Math.floor(nowMs / windowMs);
}

/** The size of the next lease; 0 when none is needed, or nothing is left to lease. */
export function nextLease({ left, leaseSize, leased }: Holding, limit: number): number {
  if (left > 0 || leased >= limit) return 0;
  const most = Math.min(Math.floor(limit / 100), Math.floor((limit - leased) / 16));
  return Math.max(1, Math.min(2 * leaseSize, most));
}

/** After a lease was taken where `leasedBefore` were leased already: of the size, what was left of the budget. */
export function withLease(
  { left }: Holding,
  lease: { readonly size: number; readonly leasedBefore: number },
  limit: number,
): Holding {
  const rest = Math.max(0, limit - lease.leasedBefore);
  const granted = Math.min(lease.size, rest);
  return { left: left + granted, leaseSize: lease.size, leased: limit - rest + granted };
}

/** After a request that was let through. */
export function withoutOne(holding: Holding): Holding {
  return { ...holding, left: holding.left - 1 };
}

export function standingOf(
  { left, leased }: Holding,
  at: { readonly allowed: boolean; readonly limit: number; readonly nowMs: number },
): Standing {
  const { allowed, limit, nowMs } = at;
  const resetSeconds = Math.ceil(((windowOf(nowMs) + 1) * windowMs - nowMs) / 1_000);
  return { allowed, limit, remaining: left + limit - leased, resetSeconds };
}
