import type { Target } from './app-shelf.ts';
import { countOfNextBatch, envelopeOf, escapedJson, postLimits } from './envelope.ts';
import { fieldOf, type Update } from './update.ts';

/** One POST: the same bytes at every attempt. */
export interface Batch {
  readonly target: Target;
  readonly bytes: Buffer;
  readonly updates: number;
  /** How often each field is in it. */
  readonly fields: Readonly<Record<string, number>>;
  readonly firstMs: number;
  attempts: number;
  notBeforeMs: number;
}

interface Lane {
  target: Target;
  fresh: Update[];
  failed: Batch[];
  /** Attempts that failed since the last one that did not. */
  failures: number;
  notBeforeMs: number;
}

const shortestPauseMs = 1_000;
const longestPauseMs = 60_000;
/** How long the platform tries (platform reference, 10.1). */
const longestTryMs = 7 * 24 * 3_600_000;

/** 1 s after the first failure, then twice as long each time, a minute at most. */
export function pauseAfterMs(failures: number): number {
  return Math.min(longestPauseMs, shortestPauseMs * 2 ** (failures - 1));
}

/**
 * What is still to be told, on the simulator's clock. Updates wait until they are due, then for the next POST to each address
 * that wants them. An address that fails rests, longer each time; what it did not take comes again for 7 days, and
 * meanwhile other batches are tried too. Nothing here runs by itself.
 */
export class Outbox {
  readonly #targetsOf: (wabaId: string, field: string) => readonly Target[];
  /** In order of time, and of arrival within one. */
  #planned: { readonly atMs: number; readonly update: Update }[] = [];
  readonly #lanes = new Map<string, Lane>();
  #givenUp = 0;

  constructor(targetsOf: (wabaId: string, field: string) => readonly Target[]) {
    this.#targetsOf = targetsOf;
  }

  /** Updates that are not due yet, and updates that are due and were not taken. */
  get waiting(): { readonly planned: number; readonly due: number } {
    const due = [...this.#lanes.values()].reduce(
      (sum, lane) => sum + lane.fresh.length + lane.failed.reduce((all, batch) => all + batch.updates, 0),
      0,
    );
    return { planned: this.#planned.length, due };
  }

  /** Updates that were tried for 7 days in vain. */
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

  /** When something is to be done next; undefined when nothing waits. */
  nextMs(): number | undefined {
    const times = [...this.#lanes.values()].flatMap((lane) => {
      const waits = lane.fresh.length > 0 ? [lane.notBeforeMs] : [];
      return [...waits, ...lane.failed.map((batch) => Math.max(batch.notBeforeMs, lane.notBeforeMs))];
    });
    const [first] = this.#planned;
    if (first !== undefined) times.push(first.atMs);
    return times.length === 0 ? undefined : times.reduce((least, one) => Math.min(least, one));
  }

  /** The addresses for which something may be due now. An update that nobody wants is forgotten. */
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

  /** The next POST to that address, unless it rests or nothing is due: what failed earlier comes before what is new. */
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

  /** Says what came of a batch that was taken. A failure tells how many there were in a row. */
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
