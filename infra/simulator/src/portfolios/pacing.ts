import type { AcceptedMessage, Course } from '../webhooks/receipts.ts';

export interface HeldMessage {
  readonly message: AcceptedMessage;
  readonly course: Course;
}

export interface PacingEnd {
  readonly outcome: 'released' | 'dropped';
  /** The code refuses the portfolio during the review after a drop. */
  readonly code: number;
}

interface Pace {
  readonly sinceMs: number;
  /** This many more messages are accepted normally. */
  left: number;
  held: readonly HeldMessage[];
  readonly end?: (PacingEnd & { readonly atMs: number }) | undefined;
}

/** Pacing calls it for each held message: it goes on, or fails with the code. */
export type SettleHeld = (held: HeldMessage, turn: { readonly atMs: number; readonly code?: number }) => void;

/** Held messages fail with this code when they are dropped. */
const droppedCode = 135000;

/**
 * Pacing holds templates after a first set (platform reference, 2.10), then releases all, or batches, or drops them. A
 * drop begins a review: the portfolio may neither send nor create templates.
 */
export class PortfolioPacing {
  readonly #settleHeld: SettleHeld;
  readonly #paces = new Map<string, Pace>();
  readonly #reviews = new Map<string, { readonly code: number; readonly sinceMs: number }>();
  #changes = 0;

  constructor(settleHeld: SettleHeld) {
    this.#settleHeld = settleHeld;
  }

  /** The count grows when pacing or a review changes, so that pages reload. */
  get changes(): number {
    return this.#changes;
  }

  /** Begins or restarts the pacing; held messages stay held. */
  begin(portfolioId: string, pace: Omit<Pace, 'held'>): void {
    this.#changes += 1;
    const known = this.#paces.get(portfolioId);
    this.#paces.set(portfolioId, { ...pace, sinceMs: known?.sinceMs ?? pace.sinceMs, held: known?.held ?? [] });
  }

  /** Counts a template; returns whether it is held. */
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

  /** Releases the oldest held messages. Without a number it releases all and ends the pacing. */
  release(portfolioId: string, atMs: number, most = Number.POSITIVE_INFINITY): void {
    const pace = this.#paces.get(portfolioId);
    if (pace === undefined) return;
    this.#changes += 1;
    const released = pace.held.slice(0, most);
    pace.held = pace.held.slice(released.length);
    if (most === Number.POSITIVE_INFINITY) this.#paces.delete(portfolioId);
    for (const held of released) this.#settleHeld(held, { atMs });
  }

  /** Fails all held messages and begins a review of the portfolio. */
  drop(portfolioId: string, atMs: number, code: number): void {
    const held = this.#paces.get(portfolioId)?.held ?? [];
    this.#changes += 1;
    this.#paces.delete(portfolioId);
    this.#reviews.set(portfolioId, { code, sinceMs: atMs });
    for (const each of held) this.#settleHeld(each, { atMs, code: droppedCode });
  }

  /** Ends pacing and review; held messages go on. */
  forget(portfolioId: string, atMs: number): void {
    this.release(portfolioId, atMs);
    this.#reviews.delete(portfolioId);
  }

  /** Returns the code that refuses the portfolio while it is under review. */
  reviewOf(portfolioId: string): number | undefined {
    return this.#reviews.get(portfolioId)?.code;
  }

  /** Returns undefined when the portfolio is neither paced nor reviewed. */
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

  nextMs(): number | undefined {
    const times = [...this.#paces.values()].flatMap(({ end }) => end?.atMs ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Ends expired pacing, dated at its own end. */
  settle(nowMs: number): void {
    for (const [portfolioId, { end }] of this.#paces) {
      if (end === undefined || end.atMs > nowMs) continue;
      if (end.outcome === 'released') this.release(portfolioId, end.atMs);
      else this.drop(portfolioId, end.atMs, end.code);
    }
  }
}
