/** How a client stands after a request, as the process knows that served it. */
export interface Standing {
  readonly allowed: boolean;
  /** Requests a minute. */
  readonly limit: number;
  readonly remaining: number;
  /** Until the minute is over, 1 to 60. */
  readonly resetSeconds: number;
}

/** How many requests each client may make in a minute (D54). */
export interface ClientBudget {
  /** Counts one request of a client; one write at the most. Never throws: where it cannot be counted, it is allowed. */
  spend(clientId: number, nowMs: number): Promise<Standing>;
}
