/** Messages a second that one number may send: counted per whole second of the simulator's clock (130429). */
export class ThroughputLimit {
  readonly #windows = new Map<string, { second: number; count: number }>();

  /** Counts one message and says whether the number may send it; `used` is the share of the second's budget, 0 to 1. */
  take(numberId: string, perSecond: number, nowMs: number): { readonly allowed: boolean; readonly used: number } {
    const second = Math.floor(nowMs / 1_000);
    const known = this.#windows.get(numberId);
    const window = known?.second === second ? known : { second, count: 0 };
    this.#windows.set(numberId, window);
    if (window.count >= perSecond) return { allowed: false, used: 1 };
    window.count += 1;
    return { allowed: true, used: window.count / perSecond };
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

/** The value of `X-Business-Use-Case-Usage`: percentages per WABA (platform reference, 4.4). */
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
