/*
 * The money of a client's month (D58): spent, or still possible. Acceptance adds estimates; outcomes subtract what they
 * did not cost.
 */

/** The month in UTC, `YYYY-MM`. */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** A send before its acceptance. `atMs` decides the month, in UTC. */
export interface Reservation {
  readonly clientId: number;
  readonly jobId: string;
  readonly atMs: number;
  /** The estimate, in units (pricing/money.ts). */
  readonly units: number;
  /** The month may not exceed this. Absent for one-time codes and for a budget that only warns. */
  readonly limitUnits?: number | undefined;
}

export type Reserved =
  /** What the month has committed, with this and concurrent reservations. */
  | { readonly kind: 'reserved'; readonly afterUnits: number }
  | { readonly kind: 'over'; readonly committedUnits: number };

/** A job reserves once and is released once, whatever is repeated. Rejects when the store cannot be reached. */
export interface Budgets {
  /** Atomic: concurrent sends cannot pass the limit together. */
  reserve(reservation: Reservation): Promise<Reserved>;
  /** Releases a refused or withdrawn send in the month of its reservation. */
  release(reservation: Pick<Reservation, 'clientId' | 'jobId'>): Promise<void>;
  /** What is committed of the month of `atMs`; strongly consistent. */
  committedUnits(clientId: number, atMs: number): Promise<number>;
}
