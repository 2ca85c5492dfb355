export interface RefusedSend {
  /** Place among all accepted and refused sends since the last reset. */
  readonly place: number;
  /** Digits of the number, or the business-scoped user id; empty when the send named no person. */
  readonly to: string;
  /** From the path; it may be no number of the business. */
  readonly numberId: string;
  readonly path: string;
  readonly request: unknown;
  /** Empty strings when the send named none. */
  readonly template: { readonly name: string; readonly language: string };
  readonly callbackData: string | undefined;
  readonly receivedMs: number;
  /** Place in the list of requests. */
  readonly exchangeId: number;
  readonly refusal: Refusal;
}

/** Id for the console: the platform gives a refused send none. */
export function refusedId({ place }: Pick<RefusedSend, 'place'>): string {
  return `refused.${place}`;
}

export interface Refusal {
  readonly httpStatus: number;
  /** Null for an HTML page instead of an answer. */
  readonly code: number | null;
  readonly subcode: number | null;
  readonly message: string;
  /** Empty where the platform gives none. */
  readonly details: string;
}

/** Throttling of the app, the number and the pair. */
const throttlingCodes: readonly (number | null)[] = [4, 80007, 130429, 131056];

/** At least this many are kept, at most twice as many. */
export const refusedKept = { throttled: 1_000, other: 10_000 } as const;

export type RefusedKind = keyof typeof refusedKept;

export function refusedKind({ refusal }: Pick<RefusedSend, 'refusal'>): RefusedKind {
  return throttlingCodes.includes(refusal.code) ? 'throttled' : 'other';
}

export interface Dropped {
  readonly kind: RefusedKind;
  readonly count: number;
  /** The oldest kept refusal. */
  readonly since: RefusedSend;
}

/** Throttled sends are kept apart, so that a flood of them drives out no other refusal. */
export class RefusedLog {
  readonly #kept: Record<RefusedKind, RefusedSend[]> = { throttled: [], other: [] };
  readonly #totals: Record<RefusedKind, number> = { throttled: 0, other: 0 };

  /** All since the last reset, dropped ones included. */
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

  /** The result is not in order of time. */
  find(isWanted: (send: RefusedSend) => boolean): readonly RefusedSend[] {
    return [...this.#kept.other.filter(isWanted), ...this.#kept.throttled.filter(isWanted)];
  }

  /** The newest before the place; each kind in order of place. */
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

/** The last `limit` items before the place; `list` must be in order of place. */
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
