import type { Delivery } from './delivery.ts';

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
