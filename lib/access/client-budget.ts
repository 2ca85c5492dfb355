import type { Caller } from './caller.ts';

/** The serving process knows this standing of a user after a request. */
export interface BudgetStatus {
  /** A request that may not pass has used up the client's minute or the user's half. */
  readonly verdict: 'allowed' | 'client_used_up' | 'user_used_up';
  readonly clientLimit: number;
  /** The user's part of `clientLimit` is half while other users of the client are active. */
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

export type Spender = Pick<Caller, 'clientId' | 'userId'>;

/** A client, and each of its users, may make this many requests in a minute (D54). */
export interface ClientBudget {
  /** Counts one request, mostly by one write or none. Never throws: a request that cannot be counted is allowed. */
  spend(spender: Spender, nowMs: number): Promise<BudgetStatus>;
}
