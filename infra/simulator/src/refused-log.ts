export interface RefusedSend {
  readonly place: number;
  /** The recipient has the digits of a number, or a business-scoped user id; empty when the send named no person. */
  readonly to: string;
  /** The id comes from the path, and may be no number of the business. */
  readonly numberId: string;
  readonly path: string;
  readonly request: unknown;
  /** The strings are empty when the send named none. */
  readonly template: { readonly name: string; readonly language: string };
  readonly callbackData: string | undefined;
  readonly receivedMs: number;
  readonly exchangeId: number;
  readonly refusal: Refusal;
}

/** Returns an id for the console: the platform gives a refused send none. */
export function refusedId({ place }: Pick<RefusedSend, 'place'>): string {
  return `refused.${place}`;
}

export interface Refusal {
  readonly httpStatus: number;
  /** The code is null for an HTML page instead of an answer. */
  readonly code: number | null;
  readonly subcode: number | null;
  readonly message: string;
  /** The text is empty where the platform gives none. */
  readonly details: string;
}

/** The app, the number and the pair are throttled with these. */
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
  readonly since: RefusedSend;
}

/** Throttled sends are kept apart, so that a flood of them drives out no other refusal. */
export class RefusedLog {
  readonly #kept: Record<RefusedKind, RefusedSend[]> = { throttled: [], other: [] };
  readonly #totals: Record<RefusedKind, number> = { throttled: 0, other: 0 };

  /** The total includes dropped ones since the last reset. */
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

  /** Returns the wanted, not in order of time. */
  find(isWanted: (send: RefusedSend) => boolean): readonly RefusedSend[] {
    return [...this.#kept.other.filter(isWanted), ...this.#kept.throttled.filter(isWanted)];
  }

  /** Returns the newest before the place; each kind in order of place. */
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

/** Returns the last `limit` items before the place; `list` must be in order of place. */
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
