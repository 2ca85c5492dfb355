import { dueMsOf, openPlaces, type Slice } from '../dispatch/slice.ts';
import type { SliceEnd } from '../send/claims/run-slice.ts';

/** A slice that has something to do: its next try, or an end that may not be told yet. */
export interface OpenSlice {
  readonly slice: number;
  readonly try: number;
  readonly dueMs: number;
  /** The try covers these places; all of a slice that nothing is known of. */
  readonly places?: readonly number[] | undefined;
  /** It was found in the hands of another run so often. */
  readonly met?: number;
  /** Its recipients could not be read. */
  readonly isDamaged?: true | undefined;
}

/** Another run's claim is looked at again after this time, then after twice as long. */
const firstLookMs = 2_000;
const longestLookMs = 30_000;

/** A message of a try that waits longer than this is told at once (run-slice.ts). */
const longestUntoldMs = 900_000;

/**
 * Returns what is left to do of a stored slice, from its last try on: the run that ended it may have died before it told
 * the endings. They are told with the next try, where that is near.
 */
export function openSliceOf({ key: { slice }, try: tried, state, ...known }: Slice, nowMs: number): OpenSlice {
  const dueMs = state === 'ended' ? (dueMsOf(known) ?? 0) : 0;
  return { slice, try: tried, dueMs: dueMs - nowMs > longestUntoldMs ? 0 : dueMs };
}

/** Returns what is left of a slice after a try, or undefined once all of it has ended and is told. */
export function afterEnd(
  { isDamaged: _readable, ...open }: OpenSlice,
  end: SliceEnd,
  { isTold, nowMs }: { readonly isTold: boolean; readonly nowMs: number },
): OpenSlice | undefined {
  const { slice } = open;
  if (end.kind === 'over') return { slice, try: open.try + 1, dueMs: nowMs };
  if (end.kind === 'later') {
    const { met = 0 } = open;
    const lookMs = nowMs + Math.min(longestLookMs, firstLookMs * 2 ** met);
    return { ...open, met: met + 1, dueMs: Math.min(end.atMs ?? lookMs, lookMs) };
  }
  if (!isTold) return { ...open, dueMs: nowMs + firstLookMs };
  const dueMs = dueMsOf(end.slice);
  return dueMs === undefined ? undefined : { slice, try: end.slice.try + 1, dueMs, places: openPlaces(end.slice) };
}
