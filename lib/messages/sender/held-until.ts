import type { BacklogEntry, ParkedEntry } from '../dispatch/backlog.ts';
import type { CallFacts } from '../dispatch/call-facts.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import { parkEndMs } from '../dispatch/item-state.ts';
import type { Breaker } from '../holds/breaker.ts';
import { holdableOf } from '../holds/held-dispatch.ts';
import { type Holds, holdsOn } from '../holds/hold.ts';
import { askMsOf, isOverBy } from '../holds/questions.ts';
import type { HoldableMessage } from '../holds/scope.ts';
import { dueMsOfEntry } from './entry-progress.ts';

/** What holds messages back: the holds of their WABA, and the platform as a whole. */
export interface Holding {
  readonly holds: Holds;
  readonly breaker: Breaker | undefined;
}

/**
 * Returns when a dispatch need not wait for its holds any more (D46): a message probes or its template is read, or its
 * waiting is over. While the platform is down, its probe comes first.
 */
export function heldUntilMs(state: DispatchItemState, holding: Holding, facts: CallFacts, nowMs: number): number {
  const { parked, stop } = state;
  // Nothing of a stopped dispatch is called.
  if (stop !== undefined) return 0;
  const { open } = holding.breaker ?? {};
  if (open !== undefined) return open.probeAtMs;
  // A dispatch that is not parked has to find that out.
  if (parked === undefined) return 0;
  return endMsOf(holding, holdableOf(facts), { ...facts, untilMs: parkEndMs(parked, facts) }, nowMs);
}

/** Returns the same for an entry, without reading its dispatch: what a hold says is never written to entries. */
export function heldUntilOfEntry(entry: BacklogEntry, holding: Holding, nowMs: number): number {
  const { parked, phoneNumberId, enteredAtMs: acceptedAtMs } = entry;
  if (parked === undefined) return 0;
  const { open } = holding.breaker ?? {};
  return open?.probeAtMs ?? endMsOf(holding, { ...parked, phoneNumberId }, { ...parked, acceptedAtMs }, nowMs);
}

function endMsOf(
  { holds }: Holding,
  message: HoldableMessage,
  { untilMs, acceptedAtMs }: { readonly untilMs: number; readonly acceptedAtMs: number },
  nowMs: number,
): number {
  const on = holdsOn(holds, message);
  if (on.length === 0 || nowMs >= untilMs) return 0;
  // No message probes while the template is to be read, and a sender reads it whatever else holds the dispatch.
  const read = on.find(({ hold }) => hold.byReading)?.hold;
  if (read !== undefined && isOverBy(read, acceptedAtMs)) return 0;
  return Math.min(untilMs, read ? askMsOf(read) : Math.max(...on.map(({ hold }) => askMsOf(hold))));
}

/** Returns what the entry of a parked dispatch says of it, once all of that is told. */
export function parkedEntryOf(state: DispatchItemState, facts: CallFacts): ParkedEntry | undefined {
  const { parked, stop } = state;
  if (parked === undefined || parked.untold !== undefined || stop !== undefined) return undefined;
  const { phoneNumberId: _own, ...holdable } = holdableOf(facts);
  return { wabaId: facts.wabaId, ...holdable, untilMs: parkEndMs(parked, facts) };
}

/**
 * Returns when the sweeper wakes a number for an entry. The news of a stop have taken off what it said of a hold
 * (stop-news.ts).
 */
export function wakeMsOf(entry: BacklogEntry, holding: Holding, nowMs: number): number {
  return Math.max(dueMsOfEntry(entry), heldUntilOfEntry(entry, holding, nowMs));
}
