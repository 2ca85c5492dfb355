import { sliceSize } from '../dispatch/claims/slice.ts';
import type { JobHead } from '../job.ts';
import { type Lot, lastSlotBeforeEndMs, type Opening, standingAt } from '../lots.ts';
import type { Progress } from './job-rounds.ts';

/**
 * Consecutive recipients of a job that are released from the first to the last: all of them, or, of a send with a time (D56),
 * the whole slices of a lot, or one slice in which lots meet. It begins with a slice.
 */
export interface Stretch {
  readonly from: number;
  readonly until: number;
  /** The openings of each of its lots; undefined where the job has none: then it is open for ever. */
  readonly lots?: readonly (readonly Opening[])[];
}

/** What is left of a stretch, and its place among those of its job. */
export interface Rest extends Stretch {
  readonly at: number;
}

/**
 * How a stretch stands: may be released until then, in an opening of so much time in all; waits for an opening; or is of lots that
 * do not open any more.
 */
export type StretchStanding =
  | { readonly kind: 'open'; readonly untilMs: number; readonly lengthMs: number }
  | { readonly kind: 'closed'; readonly opensAtMs: number }
  | { readonly kind: 'over' };

interface JobOfLots {
  readonly head: Pick<JobHead, 'total' | 'expiresAtMs'>;
  readonly lots?: readonly Lot[];
}

/** The stretches of a job, in the order of its recipients: the same in every round. */
export function stretchesOf({ head: { total }, lots }: JobOfLots): readonly Stretch[] {
  if (lots === undefined) return [{ from: 0, until: total }];
  const stretches: Stretch[] = [];
  let from = 0;
  for (const [at, { until, open }] of lots.entries()) {
    const whole = until >= total ? total : until - (until % sliceSize);
    if (whole > from) {
      stretches.push({ from, until: whole, lots: [open] });
      from = whole;
    }
    if (until <= from) continue;
    // The lots that end in this slice, and the one that goes on behind it.
    const end = Math.min(total, from + sliceSize);
    const last = lots.findIndex((lot) => lot.until >= end);
    stretches.push({ from, until: end, lots: lots.slice(at, last + 1).map((lot) => lot.open) });
    from = end;
  }
  return stretches;
}

/** What of each stretch is neither queued nor ended. */
export function restsOf(stretches: readonly Stretch[], { queued, ofStretches }: Progress): Rest[] {
  return stretches.flatMap((stretch, at) => {
    const from = stretch.from + (stretch.lots === undefined ? queued : (ofStretches?.[at] ?? 0));
    return from < stretch.until ? [{ ...stretch, from, at }] : [];
  });
}

/** How far a job is once a stretch is queued, or ended, up to a recipient. */
export function advanced(
  stretches: readonly Stretch[],
  { queued, ofStretches }: Progress,
  { at, from, until }: Rest,
): Progress {
  const total = queued + until - from;
  if (stretches[at]?.lots === undefined) return { queued: total };
  const counts = stretches.map((stretch, each) => (each === at ? until - stretch.from : (ofStretches?.[each] ?? 0)));
  return { queued: total, ofStretches: counts };
}

/**
 * How a stretch stands to a moment. A slice in which lots meet is open with any of them, and closed until the next of them opens: what
 * is released early would not be judged again. Its worker judges each recipient by itself, and ends those whose time is gone. It is
 * over when all of its lots are.
 */
export function stretchStanding(
  { lots }: Stretch,
  nowMs: number,
  expiresAtMs = Number.POSITIVE_INFINITY,
): StretchStanding {
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

function standingOf(open: readonly Opening[], nowMs: number, expiresAtMs: number): StretchStanding {
  if (nowMs >= expiresAtMs) return { kind: 'over' };
  const standing = standingAt(open, nowMs, lastSlotBeforeEndMs);
  if (standing.kind !== 'open') {
    return standing.kind === 'closed' && standing.opensAtMs >= expiresAtMs ? { kind: 'over' } : standing;
  }
  const untilMs = Math.min(standing.untilMs, expiresAtMs);
  const [fromMs = nowMs] = open.findLast(([beginsMs]) => beginsMs <= nowMs) ?? [];
  return { kind: 'open', untilMs, lengthMs: untilMs - fromMs };
}

/** When what has not been released by the end of its opening may go on; undefined where it does not open again. */
export function opensNextMs(stretch: Stretch, nowMs: number, expiresAtMs?: number): number | undefined {
  const standing = stretchStanding(stretch, nowMs, expiresAtMs);
  if (standing.kind === 'closed') return standing.opensAtMs;
  if (standing.kind === 'over') return undefined;
  const later = stretchStanding(stretch, standing.untilMs, expiresAtMs);
  // One that is over by then is looked at then: what is left of it ends.
  return later.kind === 'closed' ? later.opensAtMs : standing.untilMs;
}

/** The lots of the recipients from one to another; `until` stays the index in the job. */
export function lotsBetween(lots: readonly Lot[], first: number, last: number): Lot[] {
  const from = lots.findIndex(({ until }) => first < until);
  const to = lots.findIndex(({ until }) => last < until);
  return lots.slice(from, to + 1);
}

/** The lots without the openings that have ended: a chunk carries what is still to come. */
export function withoutEnded(lots: readonly Lot[], nowMs: number): Lot[] {
  return lots.map(({ until, open }) => ({ until, open: open.filter(([, untilMs]) => untilMs > nowMs) }));
}
