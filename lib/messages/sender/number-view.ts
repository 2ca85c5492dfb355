import type { Breaker } from '../holds/breaker.ts';
import { type Holds, noHolds } from '../holds/hold.ts';
import { bulkEveryMs, type KnownPace, unknownPace } from '../pace/known-pace.ts';
import type { KnownPaces } from '../pace/known-pace-store.ts';

/** What a sender last saw of its number and of what holds it back. */
export class NumberView {
  pace: KnownPace = unknownPace;
  /** Is unknown before the first dispatch. */
  limitPerSecond = 1;
  breaker: Breaker | undefined;
  /** The paces whose changes this view sees at once. */
  readonly paces: KnownPaces;
  readonly #holds = new Map<string, Holds>();

  constructor(paces: KnownPaces) {
    this.paces = {
      find: paces.find,
      change: async (...args) => {
        this.pace = await paces.change(...args);
        return this.pace;
      },
    };
  }

  saw(wabaId: string, holds: Holds): void {
    this.#holds.set(wabaId, holds);
  }

  holdsOf(wabaId: string): Holds {
    return this.#holds.get(wabaId) ?? noHolds;
  }

  get wabaIds(): readonly string[] {
    return [...this.#holds.keys()];
  }

  /** Returns milliseconds between two calls of one of so many senders. */
  everyMs(nowMs: number, senders: number): number {
    return senders * bulkEveryMs(this.limitPerSecond, this.pace, nowMs);
  }
}
