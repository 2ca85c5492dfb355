/*
 * A client's month counts money that is spent, or still possible (D58). Acceptance adds estimates; outcomes subtract
 * what they did not cost.
 */

/** Returns the month in UTC, `YYYY-MM`. */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** `atMs` decides the month, in UTC. */
export interface Reservation {
  readonly clientId: number;
  readonly dispatchId: string;
  readonly atMs: number;
  /** The estimate is in units (pricing/money.ts). */
  readonly units: number;
  /** The month may not exceed this. One-time codes and a budget that only warns have none. */
  readonly limitUnits?: number | undefined;
}

export type Reserved =
  | { readonly kind: 'reserved'; readonly afterUnits: number }
  | { readonly kind: 'over'; readonly committedUnits: number };

/** A dispatch has reserved this of its client's month, in units. */
export interface DispatchReservation {
  readonly units: number;
  /** The template's category when the reservation was last raised (D56). */
  readonly category?: string;
}

export type Raised = { readonly kind: 'raised' } | Extract<Reserved, { readonly kind: 'over' }>;

/** `units` is what the whole dispatch would cost by now. */
export interface Raise
  extends Required<DispatchReservation>,
    Pick<Reservation, 'clientId' | 'dispatchId' | 'limitUnits'> {}

/**
 * A dispatch reserves once and is released once, whatever is repeated. A cancelled dispatch is not released: its count
 * frees what nothing can cost any more (spend/count-dispatches.ts). Rejects when the store cannot be reached.
 */
export interface Budgets {
  /** Reserves atomically: concurrent sends cannot pass the limit together. */
  reserve(reservation: Reservation): Promise<Reserved>;
  /**
   * Raises what a dispatch has reserved, in the month of its reservation and within the limit, unless the dispatch is
   * stopped. It lowers nothing, and changes nothing without a reservation. Is idempotent.
   */
  raise(raise: Raise): Promise<Raised>;
  /** Releases a refused or withdrawn send in the month of its reservation. */
  release(reservation: Pick<Reservation, 'clientId' | 'dispatchId'>): Promise<void>;
  /** Returns what is committed of the month of `atMs`, strongly consistent. */
  committedUnits(clientId: number, atMs: number): Promise<number>;
}
