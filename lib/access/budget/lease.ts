import type { BudgetStatus } from '../client-budget.ts';

/*
 * Each client has a budget for a minute of the clock, shared by all processes (D54). A process leases some requests
 * from a counter in a table, and lets them through from memory.
 */

/**
 * A minute never passes more than the budget. Any 60 s may see it twice, or three times where clocks differ by up to a
 * minute. Requests during an outage of the table come on top.
 */
export const windowMs = 60_000;

export interface Leased {
  readonly all: number;
  readonly own: number;
}

/** A process knows this of a user's budget in one minute. */
export interface Holding {
  readonly left: number;
  /** Before the first lease it is 0. */
  readonly leaseSize: number;
  /** All processes together had leased this when it last asked. */
  readonly leased: Leased;
  /** Another user of the client was active in the minute before; it is undefined until the process knows. */
  readonly company: boolean | undefined;
}

export const nothingHeld: Holding = { left: 0, leaseSize: 0, leased: { all: 0, own: 0 }, company: undefined };

export function windowOf(nowMs: number): number {
  return Math.floor(nowMs / windowMs);
}

/** Returns a user's share of a client's `limit` requests while other users are active. */
export function halfOf(limit: number): number {
  return Math.ceil(limit / 2);
}

/** Tells whether another user of the client was active in this minute. The total is a lone user's own number. */
export function isShared({ all, own }: Leased): boolean {
  return all !== own;
}

/**
 * Tells whether this process itself saw another user of the client in the minute before, which spares a look at the
 * table, or undefined where it did not.
 */
export function sawOtherUser(before: ReadonlyMap<string, Holding> | undefined, userId: string): true | undefined {
  for (const [other, { leased }] of before ?? []) if (other !== userId || isShared(leased)) return true;
  return undefined;
}

/** Tells whether another user is known to be active, so that this one has half. A refused user counts as active. */
function hasHalf({ leased, company }: Holding): boolean {
  return company === true || isShared(leased);
}

export type NextStep =
  | { readonly do: 'allow' }
  | { readonly do: 'refuse' }
  | { readonly do: 'look' }
  /** With `evenAll` the lease may pass half, if no other user was active in this minute. */
  | { readonly do: 'lease'; readonly size: number; readonly evenAll: boolean };

/**
 * Leases double from one request, so that a rare user costs little. A limit of 1 % of the budget and 1/16 of its rest
 * strands little, and refuses no user before half of the share is used.
 */
export function nextStep(holding: Holding, limit: number): NextStep {
  const { left, leaseSize, leased, company } = holding;
  if (left > 0) return { do: 'allow' };
  if (restOf(holding, limit) === 0) return { do: 'refuse' };
  const untilHalf = halfOf(limit) - leased.own;
  if (untilHalf <= 0 && company === undefined) return { do: 'look' };
  const most = Math.min(Math.floor(limit / 100), Math.floor((limit - leased.all) / 16));
  // A lease across half is refused, unless the user is certainly alone.
  const size = Math.max(1, Math.min(2 * leaseSize, most, untilHalf > 0 ? untilHalf : most));
  return { do: 'lease', size, evenAll: company === false };
}

export function withLook(holding: Holding, before: Leased): Holding {
  return { ...holding, company: isShared(before) };
}

export interface Lease {
  readonly leased: Leased;
  readonly added: boolean;
}

/** Returns the holding after a lease, which adds no more than the client's budget had left. */
export function withLease(holding: Holding, size: number, { leased, added }: Lease, limit: number): Holding {
  const rest = Math.max(0, limit - (leased.all - size));
  return { ...holding, leaseSize: size, leased, left: holding.left + (added ? Math.min(size, rest) : 0) };
}

export function withoutOne(holding: Holding): Holding {
  return { ...holding, left: holding.left - 1 };
}

export function budgetStatusOf(
  holding: Holding,
  at: { readonly allowed: boolean; readonly limit: number; readonly nowMs: number },
): BudgetStatus {
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

/** Returns what the user may still lease, as far as the process knows. */
function restOf(holding: Holding, limit: number): number {
  const { all, own } = holding.leased;
  return Math.max(0, Math.min(limit - all, (hasHalf(holding) ? halfOf(limit) : limit) - own));
}
