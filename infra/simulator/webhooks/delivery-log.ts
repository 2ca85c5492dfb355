/** One POST of a webhook, as the control interface shows it. */
export interface Delivery {
  readonly app_id: string;
  readonly url: string;
  readonly updates: number;
  readonly fields: Readonly<Record<string, number>>;
  readonly bytes: number;
  /** 1 for the first. */
  readonly attempt: number;
  /** The HTTP status, or why there is none. */
  readonly answer: number | string;
  readonly at: string;
  /** The envelope, unless it is long. */
  readonly body?: unknown;
}

/** How many POSTs are kept. */
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

  /** Newest first. */
  newest(limit: number): readonly Delivery[] {
    return limit === 0 ? [] : this.#kept.slice(-limit).reverse();
  }
}
