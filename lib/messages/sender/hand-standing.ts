import { byHolds, composedMsOf, holdableOf, type ParkReason, reasonOf } from '../holds/held-dispatch.ts';
import { type Holds, holdsOn, isOutdated, isProbeDue } from '../holds/hold.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';

export type HandStanding =
  /** Its slices may be claimed: to be called, to probe, or to end uncalled. */
  | { readonly kind: 'free' }
  /** The stop has ended its rest, which is to be told. */
  | { readonly kind: 'stopped' }
  /** Its template was reviewed since it was judged. */
  | { readonly kind: 'outdated' }
  | { readonly kind: 'held'; readonly reason: ParkReason };

/** Returns what a sender may do with a dispatch, by its state and holds (D46, D53, D56). */
export function standingOf({ state, rest, facts }: DispatchInHand, holds: Holds, nowMs: number): HandStanding {
  if (state.stop !== undefined && rest === 'open') return { kind: 'stopped' };
  const on = holdsOn(holds, holdableOf(facts));
  const by = byHolds(state, on, facts, nowMs);
  if (by.kind === 'settle') return { kind: 'free' };
  const isInReview = on.some(({ hold }) => hold.byReading);
  if (!isInReview && isOutdated(holds, holdableOf(facts), composedMsOf(facts))) return { kind: 'outdated' };
  const [widest] = on;
  if (by.kind === 'send' || widest === undefined || on.every(({ hold }) => isProbeDue(hold, nowMs))) {
    return { kind: 'free' };
  }
  return { kind: 'held', reason: reasonOf(widest.scope, widest.hold.code) };
}
