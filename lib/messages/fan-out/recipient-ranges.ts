import type { DispatchHead } from '../dispatch/head.ts';
import { type Lot, lastSlotBeforeEndMs, type Opening, openingStateAt } from '../dispatch/lots.ts';
import { sliceSize } from '../dispatch/slice.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import type { Progress } from './dispatch-rounds.ts';

/**
 * Recipients from a slice's start are released in order: all of a dispatch, or for a scheduled send (D56) the whole
 * slices of a lot, or a slice in which lots meet.
 */
export interface RecipientRange {
  readonly from: number;
  readonly until: number;
  /** Each of its lots has openings. A dispatch without lots is always open. */
  readonly lots?: readonly (readonly Opening[])[];
}

/** A rest is what is left of a stretch; `at` is the stretch's index in the dispatch. */
export interface RangeRest extends RecipientRange {
  readonly at: number;
}

/**
 * A stretch is open until a time, in an opening of `lengthMs`; closed until a time; or over, because its lots do not
 * open again.
 */
export type RangeState =
  | { readonly kind: 'open'; readonly untilMs: number; readonly lengthMs: number }
  | { readonly kind: 'closed'; readonly opensAtMs: number }
  | { readonly kind: 'over' };

/** Returns the stretches of a dispatch, in order. Is deterministic. */
export function rangesOf({
  head: { total },
  lots,
}: Pick<StoredDispatch, 'lots'> & { readonly head: Pick<DispatchHead, 'total'> }): readonly RecipientRange[] {
  if (lots === undefined) return [{ from: 0, until: total }];
  const stretches: RecipientRange[] = [];
  let from = 0;
  for (const [at, { until, open }] of lots.entries()) {
    const whole = until >= total ? total : until - (until % sliceSize);
    if (whole > from) {
      stretches.push({ from, until: whole, lots: [open] });
      from = whole;
    }
    if (until <= from) continue;
    // These lots end in this slice, beside the one that continues behind it.
    const end = Math.min(total, from + sliceSize);
    const last = lots.findIndex((lot) => lot.until >= end);
    stretches.push({ from, until: end, lots: lots.slice(at, last + 1).map((lot) => lot.open) });
    from = end;
  }
  return stretches;
}

export function restsOf(stretches: readonly RecipientRange[], { queued, ofStretches }: Progress): RangeRest[] {
  return stretches.flatMap((stretch, at) => {
    const from = stretch.from + (stretch.lots === undefined ? queued : (ofStretches?.[at] ?? 0));
    return from < stretch.until ? [{ ...stretch, from, at }] : [];
  });
}

/** Returns the progress once a stretch is queued or ended up to `until`. */
export function advanced(
  stretches: readonly RecipientRange[],
  { queued, ofStretches }: Progress,
  { at, from, until }: RangeRest,
): Progress {
  const total = queued + until - from;
  if (stretches[at]?.lots === undefined) return { queued: total };
  const counts = stretches.map((stretch, each) => (each === at ? until - stretch.from : (ofStretches?.[each] ?? 0)));
  return { queued: total, ofStretches: counts };
}

/**
 * A slice in which lots meet is open with any of them, for its worker checks each recipient; closed until the next
 * opens (released early, it would not be judged again); over with all.
 */
export function rangeState(
  { lots }: RecipientRange,
  nowMs: number,
  expiresAtMs = Number.POSITIVE_INFINITY,
): RangeState {
  if (lots === undefined) return withoutEnd;
  const standings = lots.map((open) => standingOf(open, nowMs, expiresAtMs));
  const open = standings.filter((each) => each.kind === 'open');
  const [longest] = open.toSorted((one, other) => other.untilMs - one.untilMs);
  if (longest !== undefined) return longest;
  const opensAtMs = standings.flatMap((each) => (each.kind === 'closed' ? [each.opensAtMs] : []));
  if (opensAtMs.length === 0) return { kind: 'over' };
  return { kind: 'closed', opensAtMs: Math.min(...opensAtMs) };
}

const withoutEnd = { kind: 'open', untilMs: Number.POSITIVE_INFINITY, lengthMs: Number.POSITIVE_INFINITY } as const;

function standingOf(open: readonly Opening[], nowMs: number, expiresAtMs: number): RangeState {
  if (nowMs >= expiresAtMs) return { kind: 'over' };
  const standing = openingStateAt(open, nowMs, lastSlotBeforeEndMs);
  if (standing.kind !== 'open') {
    return standing.kind === 'closed' && standing.opensAtMs >= expiresAtMs ? { kind: 'over' } : standing;
  }
  const untilMs = Math.min(standing.untilMs, expiresAtMs);
  const [fromMs = nowMs] = open.findLast(([beginsMs]) => beginsMs <= nowMs) ?? [];
  return { kind: 'open', untilMs, lengthMs: untilMs - fromMs };
}

/** Returns when recipients that miss the present opening may go on, or undefined if never. */
export function opensNextMs(stretch: RecipientRange, nowMs: number, expiresAtMs?: number): number | undefined {
  const standing = rangeState(stretch, nowMs, expiresAtMs);
  if (standing.kind === 'closed') return standing.opensAtMs;
  if (standing.kind === 'over') return undefined;
  const later = rangeState(stretch, standing.untilMs, expiresAtMs);
  // A stretch that is over by then is looked at then, so that the rest of it ends.
  return later.kind === 'closed' ? later.opensAtMs : standing.untilMs;
}

/** Returns the lots of recipients `first` to `last`; `until` stays the index in the dispatch. */
export function lotsBetween(lots: readonly Lot[], first: number, last: number): Lot[] {
  const from = lots.findIndex(({ until }) => first < until);
  const to = lots.findIndex(({ until }) => last < until);
  return lots.slice(from, to + 1);
}

/** Returns the lots without past openings, as a chunk carries them. */
export function withoutEnded(lots: readonly Lot[], nowMs: number): Lot[] {
  return lots.map(({ until, open }) => ({ until, open: open.filter(([, untilMs]) => untilMs > nowMs) }));
}
