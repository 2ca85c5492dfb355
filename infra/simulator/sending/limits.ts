const secondMs = 1_000;

/**
 * Messages a second that one number may send (130429): never more in any second, wherever it begins. A message that is
 * refused does not count.
 */
export class ThroughputLimit {
  /** When the messages of the last second were taken, oldest first. */
  readonly #taken = new Map<string, number[]>();

  /** Counts one message and says whether the number may send it. What is allowed now counts, whatever was a moment ago. */
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

/** Who calls for a WABA: each app has a budget of its own there. */
export interface Caller {
  readonly appId: string | undefined;
  readonly wabaId: string;
}

/** Management calls per app, WABA and hour, for the usage header only: nothing is refused on their account. */
export class ManagementUsage {
  readonly #windows = new Map<string, { hour: number; count: number }>();

  count(caller: Caller, nowMs: number): void {
    this.#windows.set(keyOf(caller), { hour: hourOf(nowMs), count: this.#counted(caller, nowMs) + 1 });
  }

  /** The share of the hour's budget that is used up, 0 to 1. */
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
 * `X-Business-Use-Case-Usage`: what a WABA has used up of the hour's calls, in percent and rounded up, by their kind (platform
 * reference, 4.4). `managementUsed` is the share of its management calls. For messages no budget of calls is known but the
 * throughput of a number, of which the header says nothing: theirs stays 0.
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
