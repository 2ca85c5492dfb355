import { claimLifeMs } from '../dispatch/deadlines.ts';
import { forgottenAtMs } from '../items.ts';
import type { JobHead, Repeat } from '../job.ts';
import type { JobState } from '../job-state.ts';
import type { Lot } from '../lots.ts';
import type { Cost } from './cost.ts';

/** A job as its report opens: who its recipients are, as far as that is written, which were dropped, and whether it goes on. */
export interface DescribedJob extends JobState {
  readonly head: JobHead;
  readonly repeats: readonly Repeat[];
  /** The address of each recipient by its index in the job; of those whose part is described. */
  readonly recipients: ReadonlyMap<number, string>;
  /** When they may leave, for a send with a time of its own (D56). */
  readonly lots?: readonly Lot[];
  /** The place in the request of each recipient, by its index, where that is another order. */
  readonly positions?: readonly number[];
  /** What it cost when that was counted last (D58). */
  readonly statedCost?: Cost;
}

/** The report is kept for 30 days (D40), or longer (D56): afterwards the rest of it is on its way out. */
export function isForgotten(head: JobHead, nowMs: number): boolean {
  return forgottenAtMs(head) <= nowMs;
}

/**
 * Whether what a claim from before the stop came to may be missing from what is read eventually consistent, or was read beside
 * the job: then it is read strongly, afterwards. The time of a stop is that of the attempt, and its writer lived no longer than
 * a worker does.
 */
export function isStoppedLately({ stop }: JobState, nowMs: number): boolean {
  return stop !== undefined && nowMs < stop.atMs + claimLifeMs;
}

/** One position of the request: which message of the job it became. */
export interface Place {
  readonly position: number;
  readonly index: number;
  /** The position that it repeats, when it was dropped for that (D25). */
  readonly duplicateOf?: number;
}

/** What the places of a request follow from. */
export interface PlacedJob extends Pick<DescribedJob, 'repeats' | 'positions'> {
  readonly head: Pick<JobHead, 'total'>;
}

/**
 * The places of a request in order, whatever the order of its job. Repeats that no request can have, and recipients without a place
 * of their own, are refused: what is stored is wrong then.
 */
export function placesOf({ head, repeats, positions }: PlacedJob): Place[] {
  const repeated = new Map(repeats);
  const indexes = positions && new Map(positions.map((position, index) => [position, index]));
  const places: Place[] = [];
  let next = 0;
  for (let position = 0; position < head.total + repeats.length; position += 1) {
    const duplicateOf = repeated.get(position);
    const original = duplicateOf === undefined ? undefined : places[duplicateOf];
    if (duplicateOf === undefined) {
      const index = indexes === undefined ? next : indexes.get(position);
      if (index === undefined) throw new RangeError('a place of the request has no recipient');
      places.push({ position, index });
      next += 1;
    } else if (original === undefined) throw new RangeError('a recipient repeats a later one');
    else places.push({ position, index: original.index, duplicateOf });
  }
  return places;
}
