const dayMs = 24 * 3_600_000;
/** The number is our reading: the platform says only "several". */
const mostRetries = 3;

/**
 * People are capped (131049), and a WABA may retry at them in 24 hours (platform reference, 6.5). Further retries are
 * refused until the oldest is 24 hours ago.
 */
export class MarketingCaps {
  readonly #cappedAtMs = new Map<string, number>();
  readonly #retriesMs = new Map<string, readonly number[]>();

  /** Starts the 24 hours in which the WABA's messages to the person count as retries. */
  capped(wabaId: string, key: string, atMs: number): void {
    this.#cappedAtMs.set(`${wabaId} ${key}`, atMs);
  }

  /** Counts a retry at a capped person; returns whether it is refused at once. */
  refuses(wabaId: string, key: string, nowMs: number): boolean {
    const cappedAtMs = this.#cappedAtMs.get(`${wabaId} ${key}`);
    if (cappedAtMs === undefined || nowMs - cappedAtMs >= dayMs) return false;
    const recent = (this.#retriesMs.get(wabaId) ?? []).filter((atMs) => nowMs - atMs < dayMs);
    const isRefused = recent.length >= mostRetries;
    this.#retriesMs.set(wabaId, isRefused ? recent : [...recent, nowMs]);
    return isRefused;
  }
}
