import type { BacklogEntry, ParkedEntry } from '../dispatch/backlog.ts';
import type { CallFacts } from '../dispatch/call-facts.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import { parkEndMs } from '../dispatch/item-state.ts';
import type { Breaker } from '../holds/breaker.ts';
import { holdableOf } from '../holds/held-dispatch.ts';
import { type Holds, holdsOn } from '../holds/hold.ts';
import type { HoldableMessage } from '../holds/scope.ts';
import { dueMsOfEntry } from './entry-progress.ts';

/** What holds messages back: the holds of their WABA, and the platform as a whole. */
export interface Holding {
  readonly holds: Holds;
  readonly breaker: Breaker | undefined;
}

/**
 * Returns when a dispatch need not wait for its holds any more (D46): a probe is due, or its waiting is over. Infinity
 * stands for a reading. While the platform is down, its probe comes first.
 */
export function heldUntilMs(state: DispatchItemState, holding: Holding, facts: CallFacts, nowMs: number): number {
  const { parked, stop } = state;
  // Nothing of a stopped dispatch is called.
  if (stop !== undefined) return 0;
  const { open } = holding.breaker ?? {};
  if (open !== undefined) return open.probeAtMs;
  // A dispatch that is not parked has to find that out.
  if (parked === undefined) return 0;
  return endMsOf(holding, holdableOf(facts), parkEndMs({ ...state, parked }, facts), nowMs);
}

/** Returns the same for an entry, without reading its dispatch: what a hold says is never written to entries. */
export function heldUntilOfEntry({ parked, phoneNumberId }: BacklogEntry, holding: Holding, nowMs: number): number {
  if (parked === undefined) return 0;
  const { open } = holding.breaker ?? {};
  return open?.probeAtMs ?? endMsOf(holding, { ...parked, phoneNumberId }, parked.untilMs, nowMs);
}

function endMsOf({ holds }: Holding, message: HoldableMessage, untilMs: number, nowMs: number): number {
  const on = holdsOn(holds, message);
  if (on.length === 0 || nowMs >= untilMs) return 0;
  return Math.max(
    ...on.map(({ hold: { byReading, nextAskMs, askedUntilMs = 0 } }) =>
      byReading ? Number.POSITIVE_INFINITY : Math.max(nextAskMs, askedUntilMs),
    ),
  );
}

/** Returns what the entry of a parked dispatch says of it. */
export function parkedEntryOf(state: DispatchItemState, facts: CallFacts): ParkedEntry | undefined {
  const { parked, stop } = state;
  if (parked === undefined || stop !== undefined) return undefined;
  const { phoneNumberId: _own, ...holdable } = holdableOf(facts);
  return { wabaId: facts.wabaId, ...holdable, untilMs: parkEndMs({ ...state, parked }, facts) };
}

/**
 * Returns when the sweeper wakes a number for an entry. The news of a stop have taken off what it said of a hold
 * (stop-news.ts).
 */
export function wakeMsOf(entry: BacklogEntry, holding: Holding, nowMs: number): number {
  return Math.max(dueMsOfEntry(entry), heldUntilOfEntry(entry, holding, nowMs));
}
