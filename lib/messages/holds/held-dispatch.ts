import type { CallFacts } from '../dispatch/call-facts.ts';
import type { DispatchItemState, DispatchParked } from '../dispatch/item.ts';
import { type ByDispatchState, byDispatchState, type Ending } from '../dispatch/item-state.ts';
import type { HeldBy } from './hold.ts';
import { type HoldableMessage, type HoldScope, parkScopeOf } from './scope.ts';

/*
 * Only the hold decides whether a message is called (D46). `parked` informs client and report: the number's sender
 * parks the dispatch and resumes it.
 */

export type ParkReason = Pick<DispatchParked, 'code' | 'scope'>;

const pausedTemplateCode = '132015';

/** Returns how client and report see a hold with this code. */
export function reasonOf(scope: HoldScope, code: string): ParkReason {
  return { code: code === pausedTemplateCode ? 'template_paused' : code, scope: parkScopeOf(scope) };
}

export function holdableOf({ category, path, phoneNumberId, about: { template } }: CallFacts): HoldableMessage {
  return { category, path, phoneNumberId, templateName: template.name, templateLanguage: template.language };
}

/** Returns when the messages of a dispatch were last judged by their template. */
export function composedMsOf({ composedMs, acceptedAtMs }: CallFacts): number {
  return composedMs ?? acceptedAtMs;
}

/** Returns what a message does, by its dispatch's state and the holds on it, the widest first. */
export function byHolds(
  state: DispatchItemState,
  [widest]: readonly HeldBy[],
  message: Ending,
  nowMs: number,
): ByDispatchState {
  const { parked, ...unparked } = state;
  if (widest === undefined) return byDispatchState(unparked, message, nowMs);
  const waiting = parked ?? { ...reasonOf(widest.scope, widest.hold.code), sinceMs: nowMs };
  return byDispatchState({ ...state, parked: waiting }, message, nowMs);
}
