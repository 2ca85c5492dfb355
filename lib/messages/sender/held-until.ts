import type { BacklogEntry } from '../dispatch/backlog.ts';
import type { QueuedChunk } from '../dispatch/chunk.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import type { Ending } from '../dispatch/item-state.ts';
import type { Breaker } from '../holds/breaker.ts';
import { byHolds, holdableOf } from '../holds/held-dispatch.ts';
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
export function heldUntilMs(state: DispatchItemState, holding: Holding, facts: QueuedChunk, nowMs: number): number {
  return heldUntil(state, holding, { ...holdableOf(facts), ...facts }, nowMs);
}

function heldUntil(
  state: DispatchItemState,
  { holds, breaker }: Holding,
  of: HoldableMessage & Ending,
  nowMs: number,
): number {
  if (breaker?.open !== undefined) return breaker.open.probeAtMs;
  const on = holdsOn(holds, of);
  if (on.length === 0 || state.parked === undefined || state.stop !== undefined) return 0;
  if (byHolds(state, on, of, nowMs).kind !== 'wait') return 0;
  return Math.max(
    ...on.map(({ hold: { byReading, nextAskMs, askedUntilMs = 0 } }) =>
      byReading ? Number.POSITIVE_INFINITY : Math.max(nextAskMs, askedUntilMs),
    ),
  );
}

/** Returns when the sweeper wakes a number for an entry: what the item of a hold says is never written to entries. */
export function wakeMsOf(
  entry: BacklogEntry,
  { head, state, lots }: { readonly head: DispatchHead; readonly state: DispatchItemState } & Pick<Ending, 'lots'>,
  holding: Holding,
  nowMs: number,
): number {
  if (state.stop !== undefined) return nowMs;
  return Math.max(dueMsOfEntry(entry), heldUntil(state, holding, { ...head, lots }, nowMs));
}
