import * as v from 'valibot';
import { didYouMean } from '../../http/closest-name.ts';
import { wholeNumber } from '../../http/documented.ts';
import { clip } from '../../http/parse.ts';
import { invalid } from '../../http/refusal.ts';
import { isUserId } from '../../platform/user-id.ts';
import { dollarsOf } from '../../pricing/money.ts';
import { type DispatchHead, RequestedTimeSchema } from '../dispatch/head.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import type { DispatchPointer } from '../dispatch/whole-dispatch.ts';
import { type ReportedState, reportedStates } from '../receipts/reported-state.ts';
import type { Cost } from './cost.ts';
import { addressAt, type DescribedDispatch, type Place, placesOf } from './described-dispatch.ts';
import { countStates, type OutcomeCounts, type ReportedOutcome, totalOf } from './outcome.ts';
import { placeAt, type ReportPlace, type ReportQuery, reportCursor } from './report-cursor.ts';

/** Returns the states in a filter, or undefined for all. Refuses an unknown state with 400. */
export function statesOf(filter: readonly string[] | undefined): ReadonlySet<ReportedState> | undefined {
  if (filter === undefined) return undefined;
  const known: ReadonlySet<string> = new Set(reportedStates);
  const stray = filter.find((state) => !known.has(state));
  if (stray !== undefined) {
    const hint = didYouMean(stray, reportedStates);
    throw invalid('state', `state must be one of ${reportedStates.join(', ')}; received "${clip(stray)}"${hint}`);
  }
  return new Set(filter as ReportedState[]);
}

export const MessageState = v.picklist(reportedStates);

export const ReportRowSchema = v.object({
  index: v.pipe(wholeNumber, v.description('The place in the request.')),
  to: v.optional(v.string()),
  user_id: v.optional(v.string()),
  wa_id: v.optional(v.string()),
  state: MessageState,
  code: v.optional(v.string()),
  reason: v.optional(v.string()),
  platform_message_id: v.optional(v.string()),
  updated_at: v.optional(v.pipe(v.string(), v.isoTimestamp())),
  scheduled_for: v.optional(
    v.pipe(v.string(), v.isoTimestamp(), v.description('Of what is pending as `scheduled`: when it may leave.')),
  ),
  duplicate_of: v.optional(
    v.pipe(wholeNumber, v.description('The index of the recipient that it repeats: nothing was sent for it.')),
  ),
});
export type ReportRow = Readonly<v.InferOutput<typeof ReportRowSchema>>;

const countOfStates = Object.fromEntries(reportedStates.map((state) => [state, wholeNumber])) as Record<
  ReportedState,
  typeof wholeNumber
>;

/** The schedule shows the requested time of a send in the words of its headers, and the earliest call (D56). */
const ScheduleSchema = v.object({
  ...RequestedTimeSchema.entries,
  from: v.pipe(v.string(), v.isoTimestamp(), v.description('The first moment at which any of it may leave.')),
});

const CostAnswer = v.pipe(
  v.object({
    amount: v.pipe(v.number(), v.description('At list prices, of what was billed so far.')),
    currency: v.string(),
    basis: v.pipe(
      v.picklist(['platform', 'list']),
      v.description('platform: the platform has reported what was billed; list: of some messages it has not.'),
    ),
    final: v.pipe(v.boolean(), v.description('No message of it may still be billed.')),
  }),
  v.description('What the dispatch cost so far: what the platform delivered is billed.'),
);

export const DispatchSchema = v.object({
  dispatch_id: v.string(),
  client_id: wholeNumber,
  did: v.string(),
  template: v.object({ name: v.string(), language: v.string() }),
  campaign_id: v.optional(wholeNumber),
  accepted_at: v.pipe(v.string(), v.isoTimestamp()),
  schedule: v.optional(ScheduleSchema),
  retry_of: v.optional(v.pipe(v.string(), v.description('The dispatch whose recipients it sends to once more.'))),
  retried_by: v.optional(v.pipe(v.array(v.string()), v.description('The dispatches that retry it.'))),
  total: v.pipe(wholeNumber, v.description('Recipients of the request: the sum of the counts.')),
  counts: v.object(countOfStates),
  complete: v.pipe(v.boolean(), v.description('Nothing is pending any more.')),
  cost: CostAnswer,
});

export const DispatchReportSchema = v.object({
  ...DispatchSchema.entries,
  data: v.array(ReportRowSchema),
  paging: v.object({ cursors: v.object({ after: v.optional(v.string()) }) }),
});

export interface DispatchStatus {
  readonly counts: OutcomeCounts;
  readonly cost: Cost;
}

export interface ReportPage extends DispatchStatus {
  readonly rows: readonly ReportRow[];
  readonly next?: ReportPlace;
}

/**
 * Returns one page: `limit` rows of the requested states. Each place of the request is in exactly one count; a dropped
 * duplicate has its original's state.
 */
export function reportPage(
  dispatch: DescribedDispatch,
  question: ReportQuery,
  {
    from,
    outcomeAt,
    costNow,
  }: {
    readonly from?: ReportPlace | undefined;
    readonly outcomeAt: (index: number) => ReportedOutcome;
    /** Needs all messages, which only the first page reads. */
    readonly costNow: () => Cost;
  },
): ReportPage {
  const places = placesOf(dispatch);
  const counts = from?.counts ?? countStates(places.map(({ index }) => outcomeAt(index).state));
  const cost = from?.cost ?? costNow();
  const rows: ReportRow[] = [];
  for (const place of places.slice(from?.position ?? 0)) {
    if (rows.length === question.limit && question.states === undefined) {
      return { counts, cost, rows, next: placeAt(places, place.position, { counts, cost, filtered: false }) };
    }
    const outcome = outcomeAt(place.index);
    if (question.states?.has(outcome.state) === false) continue;
    if (rows.length === question.limit) {
      return { counts, cost, rows, next: placeAt(places, place.position, { counts, cost, filtered: true }) };
    }
    rows.push(rowOf(place, outcome, addressAt(dispatch, place)));
  }
  return { counts, cost, rows };
}

function rowOf({ position, duplicateOf }: Place, outcome: ReportedOutcome, to = outcome.to): ReportRow {
  const { state, code, reason, platformMessageId, atMs, scheduledForMs, userId, waId } = outcome;
  const textOf = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  return {
    index: position,
    to,
    user_id: userId,
    wa_id: isUserId(to) ? waId : undefined,
    state,
    code,
    reason,
    platform_message_id: platformMessageId,
    updated_at: textOf(atMs),
    scheduled_for: textOf(scheduledForMs),
    duplicate_of: duplicateOf,
  };
}

export function reportAnswer(
  dispatch: Pick<DescribedDispatch, 'head' | 'retriedBy'>,
  question: ReportQuery,
  page: ReportPage,
) {
  const { rows, next } = page;
  return {
    ...statusAnswer(dispatch.head, dispatch.retriedBy, page),
    data: rows,
    paging: { cursors: next === undefined ? {} : { after: reportCursor(question, next) } },
  };
}

/**
 * Returns a dispatch with counts and cost. `complete` means that nothing was pending when they were computed, on the
 * first page of a report.
 */
export function statusAnswer(
  head: Pick<DispatchHead, 'clientId' | Exclude<keyof DispatchPointer, 'sk' | 'total' | 'forgottenAtMs'>>,
  retriedBy: DispatchItemState['retriedBy'],
  { counts, cost }: DispatchStatus,
) {
  const { dispatchId, clientId, did, templateName, templateLanguage, campaignId, retryOf, acceptedAtMs, when } = head;
  return {
    dispatch_id: dispatchId,
    client_id: clientId,
    did,
    template: { name: templateName, language: templateLanguage },
    campaign_id: campaignId,
    accepted_at: new Date(acceptedAtMs).toISOString(),
    schedule: when && { ...when.asked, from: new Date(when.fromMs).toISOString() },
    retry_of: retryOf,
    retried_by: retriedBy && [...retriedBy].sort(),
    total: totalOf(counts),
    counts,
    complete: counts.pending === 0,
    cost: { amount: dollarsOf(cost.units), currency: 'USD' as const, basis: cost.basis, final: cost.final },
  };
}
