import type { CallFacts } from './call-facts.ts';
import type { DispatchItemState, DispatchParked, DispatchStop, Settlement } from './item.ts';
import { afterOpenTimeMs, openingsOfAll } from './lots.ts';

/* A stop or park holds back the messages of a dispatch as a whole (D46, D53). */

/** Returns the stop that a client's cancellation writes (D53). */
export function cancelled(atMs: number): DispatchStop {
  return { state: 'failed', code: 'cancelled', atMs };
}

/** A dispatch waits no longer for a hold (D46). */
export const longestParkMs = 24 * 3_600_000;

/** Returns the delay until a held message is tried again. */
export function parkDelaySeconds(parkedForMs: number): number {
  return Math.min(120, Math.max(15, Math.ceil(parkedForMs / 4_000)));
}

export type ByDispatchState =
  | { readonly kind: 'send' }
  | { readonly kind: 'wait'; readonly delaySeconds: number }
  | { readonly kind: 'settle'; readonly settlement: Settlement };

/**
 * Decides by the dispatch's state, read between claim and call (D46, D53). A message that waits gives its claim back
 * and returns as a copy.
 */
export function byDispatchState(state: DispatchItemState, message: Ending, nowMs: number): ByDispatchState {
  const { stop, parked } = state;
  if (stop !== undefined) return { kind: 'settle', settlement: settlementOf(stop) };
  if (parked === undefined) return { kind: 'send' };
  if (nowMs >= parkEndMs(parked, message)) {
    return { kind: 'settle', settlement: { state: 'expired', code: parked.code } };
  }
  return { kind: 'wait', delaySeconds: parkDelaySeconds(nowMs - parked.sinceMs) };
}

export function settlementOf({ atMs: _when, ...settlement }: Settlement & Pick<DispatchStop, 'atMs'>): Settlement {
  return settlement;
}

/**
 * Returns how a try ends for certain, unless receipts prove otherwise: its worker saw the stop, or died before. Returns
 * undefined while unknown.
 */
export function endOfTry(
  { stop, underWay }: DispatchItemState,
  { slice, try: tried }: { readonly slice: number; readonly try: number },
): DispatchStop | undefined {
  const under = underWay?.[slice];
  return underWay !== undefined && (under === undefined || tried > under) ? stop : undefined;
}

/** What a dispatch waits for at most. */
export type Ending = Pick<CallFacts, 'expiresAtMs' | 'lots'>;

/**
 * Returns when a parked dispatch or message expires: with its time to live, or after a day of pause, for scheduled
 * sends a day of open time (D56).
 */
export function parkEndMs(
  { sinceMs }: Pick<DispatchParked, 'sinceMs'>,
  { expiresAtMs = Number.POSITIVE_INFINITY, lots }: Ending,
): number {
  const endMs = lots ? afterOpenTimeMs(openingsOfAll(lots), sinceMs, longestParkMs) : sinceMs + longestParkMs;
  return Math.min(endMs, expiresAtMs);
}

/**
 * Joins two reads of a dispatch, whose replies may come in any order: a stop never goes, its reckoning neither, and
 * erasures only grow.
 */
export function joinedState(known: DispatchItemState, read: DispatchItemState): DispatchItemState {
  const { stop = known.stop, underWay = known.underWay } = read;
  const erased = new Set([...(known.erased ?? []), ...(read.erased ?? [])]);
  return { ...read, stop, underWay, erased: erased.size === 0 ? undefined : erased };
}
