import type { Target } from './app-registry.ts';
import { countOfNextBatch, envelopeOf, escapedJson, postLimits } from './envelope.ts';
import { fieldOf, type Update } from './update.ts';

/** Every attempt of a POST sends the same bytes. */
export interface Batch {
  readonly target: Target;
  readonly bytes: Buffer;
  readonly updates: number;
  readonly fields: Readonly<Record<string, number>>;
  readonly firstMs: number;
  attempts: number;
  notBeforeMs: number;
}

interface Lane {
  target: Target;
  fresh: Update[];
  failed: Batch[];
  /** The failed attempts are consecutive. */
  failures: number;
  notBeforeMs: number;
}

const shortestPauseMs = 1_000;
const longestPauseMs = 60_000;
/** The platform retries for this time (platform reference, 10.1). */
const longestTryMs = 7 * 24 * 3_600_000;

/** Returns the exponential backoff: 1 s, doubled with each failure, at most a minute. */
export function pauseAfterMs(failures: number): number {
  return Math.min(longestPauseMs, shortestPauseMs * 2 ** (failures - 1));
}

/**
 * The backlog is on the simulator's clock. A failed address backs off; its failed batch is retried for 7 days, and
 * other batches go out in between. Nothing here runs by itself.
 */
export class Outbox {
  readonly #targetsOf: (wabaId: string, field: string) => readonly Target[];
  /** The updates are sorted by time, then by arrival. */
  #planned: { readonly atMs: number; readonly update: Update }[] = [];
  readonly #lanes = new Map<string, Lane>();
  #givenUp = 0;

  constructor(targetsOf: (wabaId: string, field: string) => readonly Target[]) {
    this.#targetsOf = targetsOf;
  }

  /** Counts updates not due yet, and updates due but not accepted. */
  get waiting(): { readonly planned: number; readonly due: number } {
    const due = [...this.#lanes.values()].reduce(
      (sum, lane) => sum + lane.fresh.length + lane.failed.reduce((all, batch) => all + batch.updates, 0),
      0,
    );
    return { planned: this.#planned.length, due };
  }

  /** Counts updates dropped after 7 days of retries. */
  get givenUp(): number {
    return this.#givenUp;
  }

  add(update: Update, atMs: number): void {
    let low = 0;
    let high = this.#planned.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#planned[middle]?.atMs ?? 0) <= atMs) low = middle + 1;
      else high = middle;
    }
    this.#planned.splice(low, 0, { atMs, update });
  }

  nextMs(): number | undefined {
    const times = [...this.#lanes.values()].flatMap((lane) => {
      const waits = lane.fresh.length > 0 ? [lane.notBeforeMs] : [];
      return [...waits, ...lane.failed.map((batch) => Math.max(batch.notBeforeMs, lane.notBeforeMs))];
    });
    const [first] = this.#planned;
    if (first !== undefined) times.push(first.atMs);
    return times.length === 0 ? undefined : times.reduce((least, one) => Math.min(least, one));
  }

  /** Returns addresses that may have due work. An update without a subscriber is dropped. */
  lanesWithWork(nowMs: number): readonly string[] {
    const due = this.#planned.findIndex(({ atMs }) => atMs > nowMs);
    const count = due === -1 ? this.#planned.length : due;
    for (const { update } of this.#planned.splice(0, count)) {
      for (const target of this.#targetsOf(update.wabaId, fieldOf(update))) {
        const lane = this.#laneOf(target);
        lane.target = target;
        lane.fresh.push(update);
      }
    }
    return [...this.#lanes].filter(([, lane]) => lane.fresh.length + lane.failed.length > 0).map(([key]) => key);
  }

  /** Returns undefined while the address backs off or nothing is due. Retries come before new updates. */
  take(key: string, nowMs: number): Batch | undefined {
    const lane = this.#lanes.get(key);
    if (lane === undefined || lane.notBeforeMs > nowMs) return undefined;
    const again = lane.failed.find((batch) => batch.notBeforeMs <= nowMs);
    if (again !== undefined) {
      lane.failed = lane.failed.filter((batch) => batch !== again);
      return again;
    }
    const { updatesPerPost = postLimits.updates } = lane.target;
    const count = countOfNextBatch(lane.fresh, { ...postLimits, updates: updatesPerPost });
    return count === 0 ? undefined : newBatch(lane.target, lane.fresh.splice(0, count), nowMs);
  }

  /** Records the result of a batch; returns the consecutive failures, now and before. */
  settle(batch: Batch, taken: boolean, nowMs: number): { readonly failures: number; readonly before: number } {
    const lane = this.#laneOf(batch.target);
    const before = lane.failures;
    if (taken) {
      lane.failures = 0;
      lane.notBeforeMs = 0;
      return { failures: 0, before };
    }
    batch.attempts += 1;
    lane.failures += 1;
    lane.notBeforeMs = nowMs + pauseAfterMs(lane.failures);
    batch.notBeforeMs = nowMs + pauseAfterMs(batch.attempts);
    if (batch.notBeforeMs - batch.firstMs > longestTryMs) this.#givenUp += batch.updates;
    else lane.failed.push(batch);
    return { failures: lane.failures, before };
  }

  #laneOf(target: Target): Lane {
    const key = `${target.appId} ${target.url}`;
    const lane = this.#lanes.get(key) ?? { target, fresh: [], failed: [], failures: 0, notBeforeMs: 0 };
    this.#lanes.set(key, lane);
    return lane;
  }
}

function newBatch(target: Target, updates: readonly Update[], nowMs: number): Batch {
  const fields: Record<string, number> = {};
  for (const update of updates) fields[fieldOf(update)] = (fields[fieldOf(update)] ?? 0) + 1;
  return {
    target,
    bytes: Buffer.from(escapedJson(envelopeOf(updates, nowMs))),
    updates: updates.length,
    fields,
    firstMs: nowMs,
    attempts: 0,
    notBeforeMs: nowMs,
  };
}
