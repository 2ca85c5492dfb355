const dayMs = 24 * 3_600_000;
/** Of the platform only "several" is known. */
const mostRetries = 3;

/**
 * People whose share of marketing messages is used up (131049), and how often a WABA tries them again within 24 hours
 * (platform reference, 6.5). After several such attempts the further ones are refused at once, until the oldest of them is
 * a day ago.
 */
export class MarketingCaps {
  readonly #cappedAtMs = new Map<string, number>();
  readonly #retriesMs = new Map<string, readonly number[]>();

  /** The person was told to have had enough: 131049. */
  capped(wabaId: string, key: string, atMs: number): void {
    this.#cappedAtMs.set(`${wabaId} ${key}`, atMs);
  }

  /** Notes an attempt, when it is one at such a person; says whether it is to be refused at once. */
  refuses(wabaId: string, key: string, nowMs: number): boolean {
    const cappedAtMs = this.#cappedAtMs.get(`${wabaId} ${key}`);
    if (cappedAtMs === undefined || nowMs - cappedAtMs >= dayMs) return false;
    const recent = (this.#retriesMs.get(wabaId) ?? []).filter((atMs) => nowMs - atMs < dayMs);
    const isRefused = recent.length >= mostRetries;
    this.#retriesMs.set(wabaId, isRefused ? recent : [...recent, nowMs]);
    return isRefused;
  }
}
