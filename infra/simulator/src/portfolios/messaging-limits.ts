import type { Unreachable } from '../people.ts';

const dayMs = 24 * 3_600_000;

/** A portfolio may reach this many people in 24 hours, by tier (platform reference, 4.4). */
export const tiers = {
  TIER_50: 50,
  TIER_250: 250,
  TIER_2K: 2_000,
  TIER_10K: 10_000,
  TIER_100K: 100_000,
  TIER_UNLIMITED: Number.POSITIVE_INFINITY,
} as const;

export type Tier = keyof typeof tiers;
export const tierNames = Object.keys(tiers) as readonly Tier[];

export interface MessagingLimit {
  readonly tier: Tier;
  readonly beyond: Unreachable;
  readonly code: number;
}

/**
 * Counts distinct people outside an open window, over all numbers of a portfolio, in a sliding 24 hours. Deliveries
 * always count; a limit is enforced once a control call sets it.
 */
export class MessagingLimits {
  readonly #limits = new Map<string, MessagingLimit>();
  /** The last delivery to each person, by portfolio, may be a planned one. */
  readonly #deliveredAtMs = new Map<string, Map<string, number>>();

  enforce(portfolioId: string, limit: MessagingLimit): void {
    this.#limits.set(portfolioId, limit);
  }

  enforcedOn(portfolioId: string): MessagingLimit | undefined {
    return this.#limits.get(portfolioId);
  }

  delivers(portfolioId: string, key: string, atMs: number): void {
    const people = this.#deliveredAtMs.get(portfolioId) ?? new Map<string, number>();
    this.#deliveredAtMs.set(portfolioId, people.set(key, Math.max(atMs, people.get(key) ?? 0)));
  }

  /** Counts people of the last 24 hours; drops older ones. */
  peopleOf(portfolioId: string, nowMs: number): number {
    const people = this.#deliveredAtMs.get(portfolioId);
    for (const [key, atMs] of people ?? []) if (nowMs - atMs >= dayMs) people?.delete(key);
    return people?.size ?? 0;
  }

  /** Returns undefined when the person already counts or there is room. */
  brokenBy(portfolioId: string, key: string, nowMs: number): MessagingLimit | undefined {
    const limit = this.#limits.get(portfolioId);
    if (limit === undefined) return undefined;
    const atMs = this.#deliveredAtMs.get(portfolioId)?.get(key);
    if (atMs !== undefined && nowMs - atMs < dayMs) return undefined;
    const most = tiers[limit.tier];
    // Older deliveries are cleaned up only when that may make room.
    const isFull = (this.#deliveredAtMs.get(portfolioId)?.size ?? 0) >= most;
    return isFull && this.peopleOf(portfolioId, nowMs) >= most ? limit : undefined;
  }
}
