const secondMs = 1_000;

/** Throughput (130429) has a sliding window of one second. Refused messages do not count. */
export class ThroughputLimit {
  /** The send times are within the last second, oldest first. */
  readonly #taken = new Map<string, number[]>();

  /** Returns false when the limit refuses the message. A changed limit also counts messages accepted before. */
  take(numberId: string, perSecond: number, nowMs: number): boolean {
    const recent = (this.#taken.get(numberId) ?? []).filter((atMs) => atMs > nowMs - secondMs);
    this.#taken.set(numberId, recent);
    if (recent.length >= perSecond) return false;
    recent.push(nowMs);
    return true;
  }
}

const pairIntervalMs = 6_000;
const pairBurst = 45;
const pairsBeforeCleaning = 100_000;

/**
 * The pair limit (131056) is one message per 6 s, with a burst of 45. It is stored as the time at which the debt is
 * paid back.
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

/** Each app has its own budget for each WABA. */
export interface Caller {
  readonly appId: string | undefined;
  readonly wabaId: string;
}

/** Management calls count per app, WABA and hour. They only feed the usage header; none is refused. */
export class ManagementUsage {
  readonly #windows = new Map<string, { hour: number; count: number }>();

  count(caller: Caller, nowMs: number): void {
    this.#windows.set(keyOf(caller), { hour: hourOf(nowMs), count: this.#counted(caller, nowMs) + 1 });
  }

  /** Returns the used share of the hour's budget, 0 to 1. */
  used(caller: Caller, nowMs: number): number {
    return Math.min(1, this.#counted(caller, nowMs) / managementCallsPerHour);
  }

  #counted(caller: Caller, nowMs: number): number {
    const known = this.#windows.get(keyOf(caller));
    return known?.hour === hourOf(nowMs) ? known.count : 0;
  }
}

function keyOf({ appId, wabaId }: Caller): string {
  return `${appId}/${wabaId}`;
}

function hourOf(nowMs: number): number {
  return Math.floor(nowMs / hourMs);
}

/**
 * Returns `X-Business-Use-Case-Usage`: used share of the WABA's hourly calls in percent, rounded up (platform
 * reference, 4.4). `whatsapp` stays 0: no hourly budget of messages is known, and the header does not show throughput.
 */
export function usageHeader(wabaId: string, managementUsed: number): Readonly<Record<string, string>> {
  const management = usageOf('whatsapp_business_management', Math.ceil(managementUsed * 100));
  return { 'x-business-use-case-usage': JSON.stringify({ [wabaId]: [management, usageOf('whatsapp', 0)] }) };
}

function usageOf(type: string, percent: number) {
  return {
    type,
    call_count: percent,
    total_cputime: percent,
    total_time: percent,
    estimated_time_to_regain_access: 0,
  };
}
