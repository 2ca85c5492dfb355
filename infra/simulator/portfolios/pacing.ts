import type { AcceptedMessage, Course } from '../webhooks/receipts.ts';

/** A message that is held until it is known how its portfolio's messages fare. */
export interface HeldMessage {
  readonly message: AcceptedMessage;
  readonly course: Course;
}

/** How the pacing of a portfolio ends. */
export interface PacingEnd {
  readonly outcome: 'released' | 'dropped';
  /** What the portfolio is refused with while it is reviewed, once messages were dropped. */
  readonly code: number;
}

interface Pace {
  readonly sinceMs: number;
  /** So many more are taken as usual. */
  left: number;
  held: readonly HeldMessage[];
  readonly end?: (PacingEnd & { readonly atMs: number }) | undefined;
}

/** Told of each held message when it goes on, or fails with the code. */
export type SettleHeld = (held: HeldMessage, turn: { readonly atMs: number; readonly code?: number }) => void;

/** What held messages of a portfolio fail with. */
const droppedCode = 135000;

/**
 * The pacing of business portfolios (platform reference, 2.10): after a first set templates are held, then released in batches
 * or all of them, or dropped; a portfolio whose messages were dropped is reviewed, and may do nothing meanwhile.
 */
export class PortfolioPacing {
  readonly #settleHeld: SettleHeld;
  readonly #paces = new Map<string, Pace>();
  readonly #reviews = new Map<string, { readonly code: number; readonly sinceMs: number }>();
  #changes = 0;

  constructor(settleHeld: SettleHeld) {
    this.#settleHeld = settleHeld;
  }

  /** Grows when pacing begins or ends, by control or by itself. */
  get changes(): number {
    return this.#changes;
  }

  /** Begins, or begins again: what is held stays held. */
  begin(portfolioId: string, pace: Omit<Pace, 'held'>): void {
    this.#changes += 1;
    const known = this.#paces.get(portfolioId);
    this.#paces.set(portfolioId, { ...pace, sinceMs: known?.sinceMs ?? pace.sinceMs, held: known?.held ?? [] });
  }

  /** Counts one more template; says whether it is held. */
  holds(portfolioId: string): boolean {
    const pace = this.#paces.get(portfolioId);
    if (pace === undefined) return false;
    if (pace.left === 0) return true;
    pace.left -= 1;
    return false;
  }

  keep(portfolioId: string, held: HeldMessage): void {
    const pace = this.#paces.get(portfolioId);
    if (pace !== undefined) pace.held = [...pace.held, held];
  }

  /** Lets the oldest so many go; without a number all of them, and the pacing is over. */
  release(portfolioId: string, atMs: number, most = Number.POSITIVE_INFINITY): void {
    const pace = this.#paces.get(portfolioId);
    if (pace === undefined) return;
    this.#changes += 1;
    const released = pace.held.slice(0, most);
    pace.held = pace.held.slice(released.length);
    if (most === Number.POSITIVE_INFINITY) this.#paces.delete(portfolioId);
    for (const held of released) this.#settleHeld(held, { atMs });
  }

  /** Fails all that is held; the portfolio is reviewed from now on. */
  drop(portfolioId: string, atMs: number, code: number): void {
    const held = this.#paces.get(portfolioId)?.held ?? [];
    this.#changes += 1;
    this.#paces.delete(portfolioId);
    this.#reviews.set(portfolioId, { code, sinceMs: atMs });
    for (const each of held) this.#settleHeld(each, { atMs, code: droppedCode });
  }

  /** Neither paced nor reviewed any more; what is held goes on. */
  forget(portfolioId: string, atMs: number): void {
    this.release(portfolioId, atMs);
    this.#reviews.delete(portfolioId);
  }

  /** What a portfolio under review is refused with. */
  reviewOf(portfolioId: string): number | undefined {
    return this.#reviews.get(portfolioId)?.code;
  }

  /** As the control interface tells it; undefined: neither paced nor reviewed. */
  told(portfolioId: string): object | undefined {
    const pace = this.#paces.get(portfolioId);
    const review = this.#reviews.get(portfolioId);
    if (pace === undefined && review === undefined) return undefined;
    const isoOf = (ms: number) => new Date(ms).toISOString();
    return {
      ...(pace === undefined ? {} : { accepts: pace.left, held: pace.held.length, since: isoOf(pace.sinceMs) }),
      ...(pace?.end === undefined ? {} : { outcome: pace.end.outcome, ends_at: isoOf(pace.end.atMs) }),
      ...(review === undefined ? {} : { review_code: review.code, review_since: isoOf(review.sinceMs) }),
    };
  }

  /** When the next one ends by itself. */
  nextMs(): number | undefined {
    const times = [...this.#paces.values()].flatMap(({ end }) => end?.atMs ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Ends what is over, dated when it was. */
  settle(nowMs: number): void {
    for (const [portfolioId, { end }] of this.#paces) {
      if (end === undefined || end.atMs > nowMs) continue;
      if (end.outcome === 'released') this.release(portfolioId, end.atMs);
      else this.drop(portfolioId, end.atMs, end.code);
    }
  }
}
