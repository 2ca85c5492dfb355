/*
 * The money of a client and a month (D58). What counts against a budget is what is spent and what may still be: acceptance adds
 * the estimate of a send, and what becomes of its messages takes away what they did not cost.
 */

/** The month of a moment in UTC, `YYYY-MM`. */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** A send that is about to be accepted. The month is that of `atMs`, in UTC. */
export interface Reservation {
  readonly clientId: number;
  readonly jobId: string;
  readonly atMs: number;
  /** The estimate, in units (pricing/money.ts). */
  readonly units: number;
  /** Refused where the month would come above it; absent where the budget only warns, and for one-time codes. */
  readonly limitUnits?: number | undefined;
}

export type Reserved =
  /** What is committed of the month with it, and with what others have reserved by then. */
  | { readonly kind: 'reserved'; readonly afterUnits: number }
  | { readonly kind: 'over'; readonly committedUnits: number };

/** Every write may be repeated: a job reserves once, and is released once. All throw when the store cannot be reached. */
export interface Budgets {
  /** Atomic: of sends that are accepted side by side no two pass the limit together. */
  reserve(reservation: Reservation): Promise<Reserved>;
  /** Of a send that was refused, or taken back, after it had reserved: in the month in which it did. */
  release(reservation: Pick<Reservation, 'clientId' | 'jobId'>): Promise<void>;
  /** What is committed of the month of that moment, strongly consistent. */
  committedUnits(clientId: number, atMs: number): Promise<number>;
}
