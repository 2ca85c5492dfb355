import type { Caller } from './caller.ts';

/** How a user of a client stands after a request, as the process knows that served it. */
export interface Standing {
  /** Whether the request may pass; if not, whether the client has used up its minute, or the user the half of it. */
  readonly verdict: 'allowed' | 'client_used_up' | 'user_used_up';
  /** Requests a minute of the client. */
  readonly clientLimit: number;
  /** Those of them that the user may make: half while other users of the client are active. */
  readonly limit: number;
  readonly remaining: number;
  /** Until the minute is over, 1 to 60. */
  readonly resetSeconds: number;
}

/** Whom a request counts for: a user, by the client and the id that the token names. */
export type Spender = Pick<Caller, 'clientId' | 'userId'>;

/** How many requests each client, and each of its users, may make in a minute (D54). */
export interface ClientBudget {
  /**
   * Counts one request, by one write at the most; seldom by a few requests to the table, where a user passes half. Never
   * throws: where it cannot be counted, it is allowed.
   */
  spend(spender: Spender, nowMs: number): Promise<Standing>;
}
