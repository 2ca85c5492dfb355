export interface Delivery {
  readonly app_id: string;
  readonly url: string;
  readonly updates: number;
  readonly fields: Readonly<Record<string, number>>;
  readonly bytes: number;
  /** Counts from 1. */
  readonly attempt: number;
  /** HTTP status, or the reason why there is none. */
  readonly answer: number | string;
  readonly at: string;
  /** The envelope, unless it is too long. */
  readonly body?: unknown;
}

/** At least this many are kept, at most twice as many. */
export const deliveriesKept = 1_000;
const longestBodyKept = 20_000;

export class DeliveryLog {
  #kept: Delivery[] = [];
  #total = 0;

  get total(): number {
    return this.#total;
  }

  add(delivery: Delivery, bytes: Buffer): void {
    this.#total += 1;
    const shown = bytes.byteLength > longestBodyKept ? {} : { body: JSON.parse(bytes.toString()) };
    this.#kept.push({ ...delivery, ...shown });
    if (this.#kept.length === 2 * deliveriesKept) this.#kept = this.#kept.slice(deliveriesKept);
  }

  newest(limit: number): readonly Delivery[] {
    return limit === 0 ? [] : this.#kept.slice(-limit).reverse();
  }
}
