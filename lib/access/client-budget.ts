import type { Caller } from './caller.ts';

/** A user's standing after a request, as the serving process knows it. */
export interface BudgetStatus {
  /** Whether the request may pass; if not, whether the client's minute or the user's half is used up. */
  readonly verdict: 'allowed' | 'client_used_up' | 'user_used_up';
  readonly clientLimit: number;
  /** The user's part of `clientLimit`: half while other users of the client are active. */
  readonly limit: number;
  readonly remaining: number;
  /** Until the minute is over, 1 to 60. */
  readonly resetSeconds: number;
}

export type Spender = Pick<Caller, 'clientId' | 'userId'>;

/** How many requests a client, and each of its users, may make in a minute (D54). */
export interface ClientBudget {
  /** Counts one request, mostly by one write or none. Never throws: a request that cannot be counted is allowed. */
  spend(spender: Spender, nowMs: number): Promise<BudgetStatus>;
}
