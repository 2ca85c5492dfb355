import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { opaqueCursor, placeOf } from '../../http/opaque-cursor.ts';
import { recipientsPerPartition } from '../dispatch/slice-items.ts';
import { type ReportedState, reportedStates } from '../receipts/reported-state.ts';
import type { Cost } from './cost.ts';
import { type DescribedDispatch, type Place, placesOf } from './described-dispatch.ts';
import { type OutcomeCounts, totalOf } from './outcome.ts';

export const reportMaxLimit = 1_000;

export interface ReportQuery {
  readonly dispatchId: string;
  readonly states: ReadonlySet<ReportedState> | undefined;
  readonly limit: number;
}

/**
 * A page begins here, with what must be known before the dispatch is read: the slices for the same round trip, and the
 * counts.
 */
export interface ReportPlace {
  readonly position: number;
  /**
   * The index is that of the next recipient in the dispatch that is no repeat, or the total if the dispatch's order
   * differs from the request's (D56).
   */
  readonly index: number;
  readonly total: number;
  readonly counts: OutcomeCounts;
  readonly cost: Cost;
  /** The page needs these partitions before `index` for repeats, or for another order. */
  readonly repeatedPartitions: readonly number[];
}

const whole = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(most));
const maxMessages = 10_000;
const CursorSchema = v.strictTuple([
  whole(maxMessages),
  whole(maxMessages),
  whole(maxMessages),
  v.strictTuple([
    ...([whole(maxMessages), whole(maxMessages), whole(maxMessages), whole(maxMessages)] as const),
    ...([whole(maxMessages), whole(maxMessages), whole(maxMessages), whole(maxMessages)] as const),
  ]),
  v.pipe(v.array(whole(maxMessages / recipientsPerPartition - 1)), v.maxLength(maxMessages / recipientsPerPartition)),
  v.strictTuple([whole(Number.MAX_SAFE_INTEGER), v.picklist(['platform', 'list']), v.boolean()]),
]);

/** A cursor belongs to one dispatch and filter; the number of rows may change. */
function scopeOf({ dispatchId, states }: Omit<ReportQuery, 'limit'>): string {
  return `report ${dispatchId} ${states === undefined ? '' : reportedStates.filter((state) => states.has(state)).join()}`;
}

export function reportCursor(question: Omit<ReportQuery, 'limit'>, place: ReportPlace): string {
  const { position, index, total, counts, cost, repeatedPartitions } = place;
  const stateCounts = reportedStates.map((state) => counts[state]);
  return opaqueCursor(scopeOf(question), [
    ...[position, index, total, stateCounts, repeatedPartitions],
    [cost.units, cost.basis, cost.final],
  ]);
}

/** Returns the place of a cursor, or undefined for another dispatch or filter. */
export function reportPlaceOf(question: Omit<ReportQuery, 'limit'>, cursor: string): ReportPlace | undefined {
  const parsed = v.safeParse(CursorSchema, placeOf(scopeOf(question), cursor));
  if (!parsed.success) return undefined;
  const [position, index, total, stateCounts, repeatedPartitions, [units, basis, final]] = parsed.output;
  const counts = Object.fromEntries(
    reportedStates.map((state, at) => [state, stateCounts[at]]),
  ) as unknown as OutcomeCounts;
  return { position, index, total, counts, cost: { units, basis, final }, repeatedPartitions };
}

/** Tells whether this service can have made the place: a cursor may be forged. */
export function isPlaceIn(
  dispatch: DescribedDispatch,
  { states }: Pick<ReportQuery, 'states'>,
  place: ReportPlace,
): boolean {
  const places = placesOf(dispatch);
  if (place.position < 1 || place.position >= places.length) return false;
  const { counts, cost } = place;
  const asHandedOut = placeAt(places, place.position, { counts, cost, filtered: states !== undefined });
  return isDeepStrictEqual(place, asHandedOut) && totalOf(counts) === places.length;
}

/** Returns the partitions that a page needs, ascending. The first page counts and needs all. */
export function partitionsOf({ states, limit }: ReportQuery, from: ReportPlace | number): number[] {
  if (typeof from === 'number') return partitionsOfDispatch(from);
  // With a filter, the page's reach is only known after reading.
  const end = states === undefined ? Math.min(from.total, from.index + limit) : from.total;
  return [...new Set([...from.repeatedPartitions, ...partitionRange(from.index, end)])].sort((a, b) => a - b);
}

export function partitionsOfDispatch(total: number): number[] {
  return partitionRange(0, total);
}

function partitionRange(firstIndex: number, endIndex: number): number[] {
  const first = Math.floor(firstIndex / recipientsPerPartition);
  const end = Math.ceil(endIndex / recipientsPerPartition);
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
}

export function placeAt(
  places: readonly Place[],
  position: number,
  { counts, cost, filtered }: Pick<ReportPlace, 'counts' | 'cost'> & { readonly filtered: boolean },
): ReportPlace {
  const own = places.filter(({ duplicateOf }) => duplicateOf === undefined);
  const total = own.length;
  const isInOrder = own.every((place, at) => place.index === at);
  const before = isInOrder ? own.filter((place) => place.position < position).length : total;
  const reach = filtered ? places.slice(position) : places.slice(position, position + reportMaxLimit);
  const others = reach.filter(({ duplicateOf, index }) => index < before && (!isInOrder || duplicateOf !== undefined));
  const repeatedPartitions = [...new Set(others.map(({ index }) => Math.floor(index / recipientsPerPartition)))];
  return { position, index: before, total, counts, cost, repeatedPartitions };
}
