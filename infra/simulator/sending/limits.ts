const secondMs = 1_000;

/**
 * Messages a second that one number may send (130429): never more in any second, wherever it begins. A message that is
 * refused does not count.
 */
export class ThroughputLimit {
  /** When the messages of the last second were taken, oldest first. */
  readonly #taken = new Map<string, number[]>();

  /**
   * Counts one message and says whether the number may send it. What is allowed now counts, whatever was allowed a moment
   * ago; `used` is the share of it that the last second's messages use up, 0 to 1.
   */
  take(numberId: string, perSecond: number, nowMs: number): { readonly allowed: boolean; readonly used: number } {
    const recent = (this.#taken.get(numberId) ?? []).filter((atMs) => atMs > nowMs - secondMs);
    this.#taken.set(numberId, recent);
    if (recent.length >= perSecond) return { allowed: false, used: 1 };
    recent.push(nowMs);
    return { allowed: true, used: recent.length / perSecond };
  }
}

const pairIntervalMs = 6_000;
const pairBurst = 45;
const pairsBeforeCleaning = 100_000;

/**
 * Messages from one number to one user: one per 6 s, of which 45 may be borrowed from the future (131056). Kept as the
 * moment at which the debt is paid back.
 */
export class PairLimit {
  readonly #paidAtMs = new Map<string, number>();

  take(numberId: string, to: string, nowMs: number): boolean {
    const key = `${numberId}/${to}`;
    const paidAtMs = Math.max(this.#paidAtMs.get(key) ?? 0, nowMs);
    if (paidAtMs - nowMs > (pairBurst - 1) * pairIntervalMs) return false;
    if (this.#paidAtMs.size >= pairsBeforeCleaning) this.#forgetPaid(nowMs);
    this.#paidAtMs.set(key, paidAtMs + pairIntervalMs);
    return true;
  }

  #forgetPaid(nowMs: number): void {
    for (const [key, paidAtMs] of this.#paidAtMs) if (paidAtMs <= nowMs) this.#paidAtMs.delete(key);
  }
}

const managementCallsPerHour = 5_000;
const hourMs = 3_600_000;

/** Management calls per WABA and hour, for the usage header only: nothing is refused on their account. */
export class ManagementUsage {
  readonly #windows = new Map<string, { hour: number; count: number }>();

  /** Counts one call; answers the share of the hour's budget that is used up, 0 to 1. */
  count(wabaId: string, nowMs: number): number {
    const hour = Math.floor(nowMs / hourMs);
    const known = this.#windows.get(wabaId);
    const count = known?.hour === hour ? known.count + 1 : 1;
    this.#windows.set(wabaId, { hour, count });
    return Math.min(1, count / managementCallsPerHour);
  }
}

/**
 * The value of `X-Business-Use-Case-Usage`: percentages per WABA (platform reference, 4.4). Of a send it is the last second of
 * its number, rounded up: 100 says that the next message is one too many. Of a management call it is the WABA's hour.
 */
export function usageHeader(
  wabaId: string,
  type: 'whatsapp_business_management' | 'whatsapp',
  used: number,
): Readonly<Record<string, string>> {
  const percent = Math.ceil(used * 100);
  const usage = {
    type,
    call_count: percent,
    total_cputime: percent,
    total_time: percent,
    estimated_time_to_regain_access: 0,
  };
  return { 'x-business-use-case-usage': JSON.stringify({ [wabaId]: [usage] }) };
}
