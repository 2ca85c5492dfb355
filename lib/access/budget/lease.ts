import type { Standing } from '../client-budget.ts';

/*
 * How many requests a client and each of its users may make (D54): a budget for each minute of the clock, shared by all
 * processes.
 *
 * A client's minute has one counter in a table, and in it one for each user. A process that has nothing left for a user
 * takes a lease for it, some requests at once, and lets as many through from memory. The first lease of a minute is one
 * request, each later one twice as many as the last: who serves a user once costs it one request, however many such
 * processes there are. None is larger than a hundredth of the budget, or than a sixteenth of what is left of it: so little
 * is left over in processes that hear nothing more of the user. A budget that is used up is remembered, and asks the table
 * nothing more for that user.
 *
 * A user has half of the budget; all of it where no other user of the client was seen in this minute or the one before.
 * Of this minute the counter says so, whose total is then the user's own number: a lease beyond half is under that
 * condition. The minute before a process looks at once, when the user has half. A user who is refused has been seen: the
 * first lease of a process is counted even where nothing is left.
 *
 * - Of all requests that processes date to one minute, never more than the budget are let through, and of a user's, where
 *   another was seen in the minute before, never more than half, however many processes there are. A stretch of 60 s touches
 *   two minutes, so it may see the budget twice; where clocks are apart, by up to a minute, three times. However long a
 *   stretch, it sees two budgets more than it has minutes.
 * - Where another user comes while one has half or more, that one gets no further lease.
 * - Nobody is refused before half of the budget, or of the own share, is used: a process has never more left over for a user
 *   than it has let through, and always less than a hundredth of the budget.
 *
 * What is let through because the table does not answer comes on top.
 */

export const windowMs = 60_000;

/** What was leased of a minute of a client: by all its users, and by the one in question. */
export interface Leased {
  readonly all: number;
  readonly own: number;
}

/** What a process knows of a user's budget in one minute. */
export interface Holding {
  /** Requests that it may let through without asking. */
  readonly left: number;
  /** The size of its last lease; 0 before the first. */
  readonly leaseSize: number;
  /** What all processes together had leased when it last asked. */
  readonly leased: Leased;
  /** Whether another user of the client was seen in the minute before; undefined while that is not known. */
  readonly company: boolean | undefined;
}

export const nothingHeld: Holding = { left: 0, leaseSize: 0, leased: { all: 0, own: 0 }, company: undefined };

/** The minute of a time, counted from 1970. */
export function windowOf(nowMs: number): number {
  return Math.floor(nowMs / windowMs);
}

/** What a user may make of a client's `limit` requests while others are active. */
export function halfOf(limit: number): number {
  return Math.ceil(limit / 2);
}

/** Whether another user of the client was seen in the minute. */
export function isShared({ all, own }: Leased): boolean {
  return all !== own;
}

/**
 * Whether a process itself saw another user of the client in the minute before, by what it held then for each; undefined
 * where it did not.
 */
export function companyIn(before: ReadonlyMap<string, Holding> | undefined, userId: string): true | undefined {
  for (const [other, { leased }] of before ?? []) if (other !== userId || isShared(leased)) return true;
  return undefined;
}

/** Whether another user is known to be active, so that this one has half. */
function hasHalf({ leased, company }: Holding): boolean {
  return company === true || isShared(leased);
}

/** What a process does next for a request. */
export type NextStep =
  | { readonly do: 'allow' }
  | { readonly do: 'refuse' }
  | { readonly do: 'look' }
  /** A lease of so many; `evenAll` beyond half too, where no other user was seen in the minute. */
  | { readonly do: 'lease'; readonly size: number; readonly evenAll: boolean };

export function nextStep(holding: Holding, limit: number): NextStep {
  const { left, leaseSize, leased, company } = holding;
  if (left > 0) return { do: 'allow' };
  if (restOf(holding, limit) === 0) return { do: 'refuse' };
  const untilHalf = halfOf(limit) - leased.own;
  if (untilHalf <= 0 && company === undefined) return { do: 'look' };
  const most = Math.min(Math.floor(limit / 100), Math.floor((limit - leased.all) / 16));
  // Not across half: such a lease is refused, unless the user is alone for certain.
  const size = Math.max(1, Math.min(2 * leaseSize, most, untilHalf > 0 ? untilHalf : most));
  return { do: 'lease', size, evenAll: company === false };
}

/** After a look at the minute before. */
export function withLook(holding: Holding, before: Leased): Holding {
  return { ...holding, company: isShared(before) };
}

/** What the counter says to a lease: what is leased now, and whether this one was added. */
export interface Lease {
  readonly leased: Leased;
  readonly added: boolean;
}

/** After a lease of a size was asked for: of what was added, as much as was left of the client's budget. */
export function withLease(holding: Holding, size: number, { leased, added }: Lease, limit: number): Holding {
  const rest = Math.max(0, limit - (leased.all - size));
  return { ...holding, leaseSize: size, leased, left: holding.left + (added ? Math.min(size, rest) : 0) };
}

/** After a request that was let through. */
export function withoutOne(holding: Holding): Holding {
  return { ...holding, left: holding.left - 1 };
}

export function standingOf(
  holding: Holding,
  at: { readonly allowed: boolean; readonly limit: number; readonly nowMs: number },
): Standing {
  const { allowed, limit: clientLimit, nowMs } = at;
  const refusal = holding.leased.all >= clientLimit ? 'client_used_up' : 'user_used_up';
  return {
    verdict: allowed ? 'allowed' : refusal,
    clientLimit,
    limit: hasHalf(holding) ? halfOf(clientLimit) : clientLimit,
    remaining: holding.left + restOf(holding, clientLimit),
    resetSeconds: Math.ceil(((windowOf(nowMs) + 1) * windowMs - nowMs) / 1_000),
  };
}

/** What the user may still lease, as far as that is known. */
function restOf(holding: Holding, limit: number): number {
  const { all, own } = holding.leased;
  return Math.max(0, Math.min(limit - all, (hasHalf(holding) ? halfOf(limit) : limit) - own));
}
