import * as v from 'valibot';
import { opaqueCursor, placeOf } from '../../http/opaque-cursor.ts';
import { clip } from '../../http/parse.ts';
import { invalid } from '../../http/refusal.ts';
import { present } from '../../keys/present.ts';
import { claimLifeMs, claimMemorySeconds } from '../dispatch/claim.ts';
import { claimsPerPartition } from '../items.ts';
import type { JobHead, Repeat } from '../job.ts';
import type { JobState } from '../job-state.ts';
import { type ReportedState, reportedStates } from '../receipts/reported-state.ts';
import { countStates, type OutcomeCounts, type ReportedOutcome } from './outcome.ts';

/** A job as its report opens: who its recipients are, as far as that is written, which were dropped, and whether it goes on. */
export interface DescribedJob extends JobState {
  readonly head: JobHead;
  readonly repeats: readonly Repeat[];
  /** The address of each recipient by its index in the job; none for a job that 0.1.0 fanned out. */
  readonly recipients: ReadonlyMap<number, string>;
}

/** The report is kept for as long as claims are (D40): afterwards the rest of it is on its way out. */
export function isForgotten(head: JobHead, nowMs: number): boolean {
  return head.acceptedAtMs + claimMemorySeconds * 1_000 <= nowMs;
}

/**
 * Whether claims that were taken before the stop of the job may be missing from what is read eventually consistent, or was
 * read beside the job: then they are read strongly, afterwards. Its time is that of the attempt, and whoever wrote it lived
 * no longer than a worker does.
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

/** The places of a request in order. Repeats that no request can have are refused: what is stored is wrong then. */
export function placesOf({ head, repeats }: Pick<DescribedJob, 'head' | 'repeats'>): Place[] {
  const repeated = new Map(repeats);
  const places: Place[] = [];
  let next = 0;
  for (let position = 0; position < head.total + repeats.length; position += 1) {
    const duplicateOf = repeated.get(position);
    const original = duplicateOf === undefined ? undefined : places[duplicateOf];
    if (duplicateOf === undefined) {
      places.push({ position, index: next });
      next += 1;
    } else if (original === undefined) throw new RangeError('a recipient repeats a later one');
    else places.push({ position, index: original.index, duplicateOf });
  }
  return places;
}

export const reportMaxLimit = 1_000;

/** What is asked of a report: some states or all of them, and how many rows. */
export interface ReportQuestion {
  readonly jobId: string;
  readonly states: ReadonlySet<ReportedState> | undefined;
  readonly limit: number;
}

/**
 * Where a page begins, and what its reader must know before it has read the job: which claims to ask for in the same
 * round trip, and the counts, which are those of the first page.
 */
export interface ReportPlace {
  readonly position: number;
  /** The index in the job of the next recipient that repeats none. */
  readonly index: number;
  /** Messages of the job. */
  readonly total: number;
  readonly counts: OutcomeCounts;
  /** Partitions of claims before `index` that places of the page may repeat. */
  readonly repeatedPartitions: readonly number[];
}

/** The states that a filter names; undefined for all. Refuses what is no state with a 400 that names it. */
export function statesOf(filter: readonly string[] | undefined): ReadonlySet<ReportedState> | undefined {
  if (filter === undefined) return undefined;
  const known: ReadonlySet<string> = new Set(reportedStates);
  const stray = filter.find((state) => !known.has(state));
  if (stray !== undefined) {
    throw invalid('state', `state must be one of ${reportedStates.join(', ')}; received "${clip(stray)}"`);
  }
  return new Set(filter as ReportedState[]);
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
  v.pipe(v.array(whole(maxMessages / claimsPerPartition - 1)), v.maxLength(maxMessages / claimsPerPartition)),
]);

/** A cursor belongs to one job and one filter; the number of rows may differ from page to page. */
function scopeOf({ jobId, states }: Omit<ReportQuestion, 'limit'>): string {
  return `report ${jobId} ${states === undefined ? '' : reportedStates.filter((state) => states.has(state)).join()}`;
}

export function reportCursor(question: Omit<ReportQuestion, 'limit'>, place: ReportPlace): string {
  const { position, index, total, counts, repeatedPartitions } = place;
  const told = reportedStates.map((state) => counts[state]);
  return opaqueCursor(scopeOf(question), [position, index, total, told, repeatedPartitions]);
}

/** The place that a cursor names; undefined when it is none of this job and filter. */
export function reportPlaceOf(question: Omit<ReportQuestion, 'limit'>, cursor: string): ReportPlace | undefined {
  const parsed = v.safeParse(CursorSchema, placeOf(scopeOf(question), cursor));
  if (!parsed.success) return undefined;
  const [position, index, total, told, repeatedPartitions] = parsed.output;
  const counts = Object.fromEntries(reportedStates.map((state, at) => [state, told[at]])) as unknown as OutcomeCounts;
  return { position, index, total, counts, repeatedPartitions };
}

/** The partitions of claims that a page needs, ascending: all of the job for the first page, which counts. */
export function partitionsOf({ states, limit }: ReportQuestion, from: ReportPlace | number): number[] {
  if (typeof from === 'number') return partitionsOfJob(from);
  // Where rows are filtered, how far a page reaches is known when it is read.
  const end = states === undefined ? Math.min(from.total, from.index + limit) : from.total;
  return [...new Set([...from.repeatedPartitions, ...partitionRange(from.index, end)])].sort((a, b) => a - b);
}

/** All partitions of claims of a job with so many messages. */
export function partitionsOfJob(total: number): number[] {
  return partitionRange(0, total);
}

function partitionRange(firstIndex: number, endIndex: number): number[] {
  const first = Math.floor(firstIndex / claimsPerPartition);
  const end = Math.ceil(endIndex / claimsPerPartition);
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
}

export interface ReportRow {
  readonly index: number;
  readonly to?: string;
  readonly state: ReportedState;
  readonly code?: string;
  readonly reason?: string;
  readonly platform_message_id?: string;
  readonly updated_at?: string;
  readonly duplicate_of?: number;
}

export interface ReportPage {
  readonly counts: OutcomeCounts;
  readonly rows: readonly ReportRow[];
  /** Where the next page begins; undefined after the last row. */
  readonly next?: ReportPlace;
}

/**
 * One page: `limit` rows from a place on, of the states that are asked for. Every place of the request is in exactly one
 * count; a dropped duplicate is what the recipient is that it repeats.
 */
export function reportPage(
  job: DescribedJob,
  question: ReportQuestion,
  {
    from,
    outcomeAt,
  }: { readonly from?: ReportPlace | undefined; readonly outcomeAt: (index: number) => ReportedOutcome },
): ReportPage {
  const places = placesOf(job);
  const counts = from?.counts ?? countStates(places.map(({ index }) => outcomeAt(index).state));
  const rows: ReportRow[] = [];
  for (const place of places.slice(from?.position ?? 0)) {
    if (rows.length === question.limit && question.states === undefined) {
      return { counts, rows, next: placeAt(places, place.position, { counts, filtered: false }) };
    }
    const outcome = outcomeAt(place.index);
    if (question.states?.has(outcome.state) === false) continue;
    if (rows.length === question.limit) {
      return { counts, rows, next: placeAt(places, place.position, { counts, filtered: true }) };
    }
    rows.push(rowOf(place, outcome, job.recipients.get(place.index)));
  }
  return { counts, rows };
}

function placeAt(
  places: readonly Place[],
  position: number,
  { counts, filtered }: { readonly counts: OutcomeCounts; readonly filtered: boolean },
): ReportPlace {
  const before = places.slice(0, position).filter(({ duplicateOf }) => duplicateOf === undefined).length;
  const reach = filtered ? places.slice(position) : places.slice(position, position + reportMaxLimit);
  const repeated = reach.filter(({ duplicateOf, index }) => duplicateOf !== undefined && index < before);
  const total = places.filter(({ duplicateOf }) => duplicateOf === undefined).length;
  const repeatedPartitions = [...new Set(repeated.map(({ index }) => Math.floor(index / claimsPerPartition)))];
  return { position, index: before, total, counts, repeatedPartitions };
}

function rowOf({ position, duplicateOf }: Place, outcome: ReportedOutcome, to: string | undefined): ReportRow {
  const { state, code, reason, platformMessageId, atMs } = outcome;
  return {
    index: position,
    ...present({ to: to ?? outcome.to }),
    state,
    ...present({
      code,
      reason,
      platform_message_id: platformMessageId,
      updated_at: atMs === undefined ? undefined : new Date(atMs).toISOString(),
      duplicate_of: duplicateOf,
    }),
  };
}

/** The answer of a page (D40). */
export function reportAnswer(head: JobHead, question: ReportQuestion, { counts, rows, next }: ReportPage) {
  return {
    ...countsAnswer(head, counts),
    data: rows,
    paging: { cursors: next === undefined ? {} : { after: reportCursor(question, next) } },
  };
}

/** A dispatch with its counts. `complete`: nothing was pending when they were told, which is on the first page of a report. */
export function countsAnswer(head: JobHead, counts: OutcomeCounts) {
  const { jobId, clientId, did, templateName, templateLanguage, campaignId, acceptedAtMs } = head;
  return {
    dispatch_id: jobId,
    client_id: clientId,
    did,
    template: { name: templateName, language: templateLanguage },
    ...present({ campaign_id: campaignId }),
    accepted_at: new Date(acceptedAtMs).toISOString(),
    total: reportedStates.reduce((sum, state) => sum + counts[state], 0),
    counts,
    complete: counts.pending === 0,
  };
}
