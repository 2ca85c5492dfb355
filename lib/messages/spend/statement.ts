import * as v from 'valibot';
import { type ReportedState, reportedStates } from '../receipts/reported-state.ts';

/*
 * A statement is the counted cost of one dispatch (D58). One transaction changes it and the client's sums, so the sums
 * contain exactly what statements say.
 */

/** A line is a cost line (report/cost.ts) without its category. */
const LineSchema = v.object({
  day: v.string(),
  market: v.string(),
  messages: v.number(),
  billed: v.number(),
  units: v.number(),
});
export type Line = Readonly<v.InferOutput<typeof LineSchema>>;

const CostSchema = v.object({ units: v.number(), basis: v.picklist(['platform', 'list']), final: v.boolean() });

const CountsSchema = v.object(
  Object.fromEntries(reportedStates.map((state) => [state, v.number()])) as Record<
    ReportedState,
    v.NumberSchema<undefined>
  >,
);

/**
 * In a client's day, `sent` was taken, delivered or not; `failed` reaches no recipient, expired included; `held` was
 * taken and withheld.
 */
const outcomeKinds = ['sent', 'failed', 'held'] as const;
type OutcomeKind = (typeof outcomeKinds)[number];

/** A dispatch's part in the record of a day has endings, and calls to the platform, at least as many as counted. */
export const recordKinds = [...outcomeKinds, 'calls'] as const;
export type RecordKind = (typeof recordKinds)[number];
export type DispatchRecord = Readonly<Record<RecordKind, number>>;

const RecordSchema = v.object({ sent: v.number(), failed: v.number(), held: v.number(), calls: v.number() });

const kindOf: Readonly<Partial<Record<ReportedState, OutcomeKind>>> = {
  ...{ sent: 'sent', delivered: 'sent', read: 'sent' },
  ...{ failed: 'failed', expired: 'failed', held: 'held' },
};

export function endingsOf(states: Iterable<ReportedState>): Readonly<Record<OutcomeKind, number>> {
  const ended = { sent: 0, failed: 0, held: 0 };
  for (const state of states) {
    const kind = kindOf[state];
    if (kind !== undefined) ended[kind] += 1;
  }
  return ended;
}

const StatementSchema = v.object({
  version: v.number(),
  /** Dispatches of more than ten recipients have the report's counts, complete once `pending` is 0. */
  counts: v.optional(CountsSchema),
  /** The record is the dispatch's part in its day's sums; a small dispatch's is as known at the last count. */
  record: RecordSchema,
  cost: CostSchema,
  lines: v.pipe(v.string(), v.parseJson(), v.array(LineSchema)),
  /** The amount is the dispatch's part in its month's sums, beside its reservation. */
  adjustedUnits: v.optional(v.number()),
});
export type Statement = Readonly<v.InferOutput<typeof StatementSchema>>;

/** Returns the statement in an item. A dispatch without one was not counted and costs nothing so far. */
export function statementOf(item: unknown): Statement {
  return v.parse(StatementSchema, item);
}

const SummarySchema = v.pick(StatementSchema, ['counts', 'cost']);
export type StatementSummary = Readonly<v.InferOutput<typeof SummarySchema>>;

/** Returns the part in an item that may have been read in part only. */
export function summaryOf(item: unknown): StatementSummary {
  return v.parse(SummarySchema, item);
}

export function statementItem({ lines, ...rest }: Statement): Readonly<Record<string, unknown>> {
  return { ...rest, lines: JSON.stringify(lines) };
}
