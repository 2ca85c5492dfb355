/** A send that the platform answered with an error: nothing of it reached a person. */
export interface RefusedSend {
  /** Its place among all sends that were accepted or refused since the last reset. */
  readonly place: number;
  /** Digits of the number, or the business-scoped user id; empty: it named no person. */
  readonly to: string;
  /** As the path names it: perhaps no number of the business. */
  readonly numberId: string;
  readonly path: string;
  readonly request: unknown;
  /** Empty where the send named none. */
  readonly template: { readonly name: string; readonly language: string };
  readonly callbackData: string | undefined;
  readonly receivedMs: number;
  /** Its place in the list of requests. */
  readonly exchangeId: number;
  readonly refusal: Refusal;
}

/** The id under which it is shown: the platform gives it none. */
export function refusedId({ place }: Pick<RefusedSend, 'place'>): string {
  return `refused.${place}`;
}

/** Why, in the platform's words. */
export interface Refusal {
  readonly httpStatus: number;
  /** Null for a page in the place of an answer. */
  readonly code: number | null;
  readonly subcode: number | null;
  readonly message: string;
  /** Empty where the platform gives none. */
  readonly details: string;
}

/** What a client meets by the thousands when it sends too fast: of the app, of the number, of a pair. */
const throttlingCodes: readonly (number | null)[] = [4, 80007, 130429, 131056];

/** How many are kept: at least so many, at most twice as many. */
export const refusedKept = { throttled: 1_000, other: 10_000 } as const;

export type RefusedKind = keyof typeof refusedKept;

export function refusedKind({ refusal }: Pick<RefusedSend, 'refusal'>): RefusedKind {
  return throttlingCodes.includes(refusal.code) ? 'throttled' : 'other';
}

/** What is not kept any more of one kind of refusal. */
export interface Dropped {
  readonly kind: RefusedKind;
  readonly count: number;
  /** The oldest that is kept. */
  readonly since: RefusedSend;
}

/**
 * The newest refused sends. Throttled ones have a room of their own, so that a flood of them drives out no refusal that
 * somebody has to see.
 */
export class RefusedLog {
  readonly #kept: Record<RefusedKind, RefusedSend[]> = { throttled: [], other: [] };
  readonly #totals: Record<RefusedKind, number> = { throttled: 0, other: 0 };

  /** All since the last reset, with those that were dropped. */
  get total(): number {
    return this.#totals.throttled + this.#totals.other;
  }

  get kept(): number {
    return this.#kept.throttled.length + this.#kept.other.length;
  }

  add(send: RefusedSend): void {
    const kind = refusedKind(send);
    const most = refusedKept[kind];
    this.#totals[kind] += 1;
    this.#kept[kind].push(send);
    if (this.#kept[kind].length === 2 * most) this.#kept[kind] = this.#kept[kind].slice(most);
  }

  get(id: string): RefusedSend | undefined {
    return this.find((send) => refusedId(send) === id)[0];
  }

  /** In no order of time. */
  find(isWanted: (send: RefusedSend) => boolean): readonly RefusedSend[] {
    return [...this.#kept.other.filter(isWanted), ...this.#kept.throttled.filter(isWanted)];
  }

  /** The newest before the place, in the order of places of each kind. */
  before(place: number, limit: number): readonly RefusedSend[] {
    const { throttled, other } = this.#kept;
    return [...newestBefore(other, place, limit), ...newestBefore(throttled, place, limit)];
  }

  dropped(): readonly Dropped[] {
    return (['throttled', 'other'] as const).flatMap((kind) => {
      const [since] = this.#kept[kind];
      const count = this.#totals[kind] - this.#kept[kind].length;
      return count === 0 || since === undefined ? [] : [{ kind, count, since }];
    });
  }
}

/** The last so many of those before the place, in their order; `list` is in the order of places. */
export function newestBefore<T extends { readonly place: number }>(
  list: readonly T[],
  place: number,
  limit: number,
): readonly T[] {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.place ?? place) < place) low = middle + 1;
    else high = middle;
  }
  return list.slice(Math.max(0, low - limit), low);
}
