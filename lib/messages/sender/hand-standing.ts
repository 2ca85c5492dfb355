import type { Settlement } from '../dispatch/item.ts';
import { settlementOf } from '../dispatch/item-state.ts';
import { byHolds, composedMsOf, holdableOf } from '../holds/held-dispatch.ts';
import { type HeldBy, type Holds, holdsOn, isOutdated } from '../holds/hold.ts';
import { askMsOf, isOverBy, isProbeDue } from '../holds/questions.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';

export type HandStanding =
  /** Its slices may be claimed: to be called, or to probe. */
  | { readonly kind: 'free' }
  /** The stop has ended its rest, which is to be told. */
  | { readonly kind: 'stopped' }
  /** It is to be stopped: its time is over while it is held, or a reading says that its template never comes back. */
  | { readonly kind: 'over'; readonly settlement: Settlement }
  /** Its template was reviewed since it was judged. */
  | { readonly kind: 'outdated' }
  /** `widest` is told. `read` is to be read now. */
  | { readonly kind: 'held'; readonly widest: HeldBy; readonly read?: HeldBy | undefined };

/** Returns what a sender may do with a dispatch, by its state and holds (D46, D53, D56). */
export function standingOf(
  { state, rest, facts }: Pick<DispatchInHand, 'state' | 'rest' | 'facts'>,
  holds: Holds,
  nowMs: number,
): HandStanding {
  if (state.stop !== undefined && rest === 'open') return { kind: 'stopped' };
  const on = holdsOn(holds, holdableOf(facts));
  const by = byHolds(state, on, facts, nowMs);
  if (by.kind === 'settle') {
    return state.stop === undefined ? { kind: 'over', settlement: by.settlement } : { kind: 'free' };
  }
  const read = on.find(({ hold }) => hold.byReading);
  const { verdict } = read?.hold ?? {};
  if (read !== undefined && verdict !== undefined && isOverBy(read.hold, facts.acceptedAtMs)) {
    return { kind: 'over', settlement: settlementOf(verdict) };
  }
  if (read === undefined && isOutdated(holds, holdableOf(facts), composedMsOf(facts))) return { kind: 'outdated' };
  const [widest] = on;
  if (by.kind === 'send' || widest === undefined || on.every(({ hold }) => isProbeDue(hold, nowMs))) {
    return { kind: 'free' };
  }
  return { kind: 'held', widest, read: read && nowMs >= askMsOf(read.hold) ? read : undefined };
}
