import { clocksApartMs } from '../../aws/leased-run.ts';
import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { type BacklogEntry, undecidedMs } from '../dispatch/backlog.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { type DispatchItem, dispatchItemIn, headIn, standingIn, stateOf } from '../dispatch/item.ts';
import type { WakeSenders } from '../dispatch/sender-wake-queue.ts';
import type { Breakers } from '../holds/breaker.ts';
import { type Holds, noHolds } from '../holds/hold.ts';
import type { HoldsOfWabas } from '../holds/hold-store.ts';
import { dueMsOfEntry, dueMsOfPart } from './entry-progress.ts';
import { type Holding, wakeMsOf } from './held-until.ts';
import { sendersOf } from './number-parts.ts';
import type { SenderKey, SenderState } from './sender-ports.ts';

// A sweep each minute finds what no wake carries on: its wake was lost, or its time has come.

// It wakes alone: a sender removes what is over, and withdraws what stays undecided.

// A wake too many is harmless, yet a queue that is behind must not fill with them: a number that is being sent from is
// left alone, and one that stays late is woken ever more rarely.

const minuteMs = 60_000;

/** A sweep reaches to the next one, which may come some seconds late. */
export const sweepReachMs = minuteMs + 5_000;

/** What is late by so much although it was woken has no worker, or its senders die. */
export const overdueMs = 5 * minuteMs;

export interface DueEntry {
  readonly entry: BacklogEntry;
  /** As it is stored; absent while the dispatch is undecided. */
  readonly item: unknown;
}

export interface DuePartition {
  readonly entries: readonly DueEntry[];
  /** The sort keys of entries of another form. */
  readonly unreadable: readonly string[];
}

export interface SweepPorts {
  readonly backlog: {
    /**
     * Moves into the backlog what is due within a quarter of an hour of this time; yields, partition by partition, what
     * is due at this time. A number is in one partition. Rejects when the store cannot be reached.
     */
    due(atMs: number): AsyncIterable<DuePartition>;
  };
  readonly holds: Pick<HoldsOfWabas, 'find'>;
  readonly breakers: Pick<Breakers, 'find'>;
  /** Returns messages a second that the platform lets the number send, if that can be read. Never throws. */
  readonly limitOf: (head: DispatchHead) => Promise<number | undefined>;
  /** Reads the item of a sender's lease strongly. */
  readonly stateOf: (key: SenderKey) => Promise<SenderState>;
  readonly wake: WakeSenders;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** Returns when a sender has something to do with a dispatch (D46). */
export function dueMsOf(entry: BacklogEntry, item: DispatchItem, holding: Holding, nowMs: number): number {
  const standing = standingIn(item);
  const dueMs = dueMsOfEntry(entry);
  if (standing === 'open') return Math.max(dueMs, entry.enteredAtMs + undecidedMs);
  const head = headIn(item);
  const state = stateOf(item);
  if (standing === 'withdrawn' || head === undefined || state.stop !== undefined) return dueMs;
  return wakeMsOf(entry, holding, nowMs);
}

export interface NumberSwept {
  readonly entries: readonly { readonly entry: BacklogEntry; readonly dueMs: number }[];
  /** What the leases of its senders say, by part. */
  readonly states: readonly SenderState[];
}

export interface NumberVerdict {
  readonly wakes: readonly { readonly part: number; readonly delaySeconds: number }[];
  /** The dispatches that are late although they were woken. */
  readonly overdue: readonly string[];
}

/** Says which senders of a number are woken, and when. */
export function verdictOn({ entries, states }: NumberSwept, nowMs: number): NumberVerdict {
  const overdue = new Set<string>();
  const wakes = states.flatMap((state, part) => {
    const lastMs = lastSentMs(state);
    if (state.lease !== undefined && lastMs + clocksApartMs > nowMs) return [];
    const ofPart = { part, of: states.length };
    const wakesMs = entries.flatMap(({ entry, dueMs }) => {
      const atMs = Math.max(dueMs, dueMsOfPart(entry, ofPart));
      const lateMs = nowMs - Math.max(atMs, lastMs);
      if (lateMs >= overdueMs) overdue.add(entry.dispatchId);
      return atMs <= nowMs + sweepReachMs && isWokenAfter(Math.floor(lateMs / minuteMs)) ? [atMs] : [];
    });
    if (wakesMs.length === 0) return [];
    return [{ part, delaySeconds: Math.max(0, Math.ceil((Math.min(...wakesMs) - nowMs) / 1_000)) }];
  });
  return { wakes, overdue: [...overdue] };
}

/** Nothing is late before a sender's lease is over, and its last calls are made. */
function lastSentMs({ lease, turnsUntilMs = 0 }: SenderState): number {
  return Math.max(turnsUntilMs, lease?.untilMs ?? 0);
}

/** Wakes each minute at first, then every third: what waited for a long outage goes on soon after it. */
function isWokenAfter(minutes: number): boolean {
  return minutes < 15 || minutes % 3 === 0;
}

/**
 * Wakes the senders of each number that has something due before the next sweep, and counts what is overdue. Throws
 * when the backlog cannot be read, and at its end when something was left out.
 */
export async function sweepBacklog(ports: SweepPorts): Promise<void> {
  const { backlog, nowMs, log } = ports;
  const holdingOf = await holdingsOf(ports);
  const unreadable = (dispatchId: string) => log('dispatch.unreadable', { dispatchId });
  let [failures, leftOut, due, overdue] = [0, 0, 0, 0];
  for await (const { entries, unreadable: keys } of backlog.due(nowMs() + sweepReachMs)) {
    for (const key of keys) unreadable(key.slice(key.indexOf('#') + 1));
    failures += keys.length;
    for (const [phoneNumberId, some] of Map.groupBy(entries, ({ entry }) => entry.phoneNumberId)) {
      const known = some.map(({ entry, item }): KnownEntry => {
        const read = readItem(item);
        if (read === undefined) {
          failures += 1;
          unreadable(entry.dispatchId);
        }
        // A sender lets an unreadable one wait ever longer.
        return { entry, ...(read ?? { item: {}, head: undefined }) };
      });
      try {
        const swept = await sweepNumber(phoneNumberId, known, holdingOf, ports);
        due += swept.due;
        overdue += swept.overdue;
      } catch (error) {
        leftOut += 1;
        log('sweep.number_failed', { scope: `number:${phoneNumberId}`, error: errorName(error) });
      }
    }
  }
  // Missing data rings.
  if (leftOut === 0) {
    count('BacklogDue', due);
    count('BacklogOverdue', overdue);
  }
  failures += leftOut;
  if (failures > 0)
    throw new Error(`${failures} dispatches or numbers are left out: dispatch.unreadable, sweep.number_failed`);
}

interface KnownEntry {
  readonly entry: BacklogEntry;
  readonly item: DispatchItem;
  readonly head: DispatchHead | undefined;
}

/** Returns undefined for an item of another form. */
function readItem(stored: unknown): Omit<KnownEntry, 'entry'> | undefined {
  try {
    const item = dispatchItemIn(stored ?? {});
    return { item, head: headIn(item) };
  } catch {
    return undefined;
  }
}

type HoldingOf = (wabaId: string | undefined) => Promise<Holding>;

/** Reads the holds of each WABA once. */
async function holdingsOf({ holds, breakers }: SweepPorts): Promise<HoldingOf> {
  const breaker = await breakers.find();
  const known = new Map<string, Promise<Holds>>();
  return async (wabaId) => {
    if (wabaId === undefined) return { holds: noHolds, breaker };
    const found = known.get(wabaId) ?? holds.find(wabaId);
    known.set(wabaId, found);
    return { holds: await found, breaker };
  };
}

async function sweepNumber(
  phoneNumberId: string,
  known: readonly KnownEntry[],
  holdingOf: HoldingOf,
  { limitOf, stateOf, wake, nowMs, log }: SweepPorts,
): Promise<{ readonly due: number; readonly overdue: number }> {
  const entries = await Promise.all(
    known.map(async ({ entry, item, head }) => ({
      entry,
      dueMs: dueMsOf(entry, item, await holdingOf(head?.wabaId), nowMs()),
    })),
  );
  if (entries.every(({ dueMs }) => dueMs > nowMs() + sweepReachMs)) return { due: 0, overdue: 0 };
  const head = known.find((each) => each.head !== undefined)?.head;
  const limitPerSecond = head && (await limitOf(head));
  const of = limitPerSecond === undefined ? partsIn(entries) : sendersOf(limitPerSecond);
  const states = await Promise.all(Array.from({ length: of }, (_, part) => stateOf({ phoneNumberId, part, of })));
  const { wakes, overdue } = verdictOn({ entries, states }, nowMs());
  if (wakes.length > 0) await wake(wakes.map((each) => ({ phoneNumberId, of, ...each })));
  for (const dispatchId of overdue) log('dispatch.overdue', { dispatchId });
  return { due: entries.filter(({ dueMs }) => dueMs <= nowMs()).length, overdue: overdue.length };
}

/** Its senders have shared the number's dispatches among so many, as far as the entries say. */
function partsIn(entries: NumberSwept['entries']): number {
  return Math.max(1, ...entries.map(({ entry: { parts = [] } }) => parts.length));
}
