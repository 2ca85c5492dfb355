import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import * as v from 'valibot';
import { type ReportedState, reportedStates } from '../receipts/reported-state.ts';

/*
 * What was counted of the cost of one job (D58): an item of the messages table (items.ts, `spentKey`), which changes in the
 * transaction that adds the difference to the sums of its client. So the sums have of a job what its statement says, and no more.
 */

/** A line of its cost (report/cost.ts), without the category. */
const LineSchema = v.object({
  day: v.string(),
  market: v.string(),
  messages: v.number(),
  billed: v.number(),
  units: v.number(),
});
export type Line = Readonly<v.InferOutput<typeof LineSchema>>;

const CostSchema = v.object({ units: v.number(), basis: v.picklist(['platform', 'list']), final: v.boolean() });

/** One number for each state that a report knows. */
const CountsSchema = v.object(
  Object.fromEntries(reportedStates.map((state) => [state, v.number()])) as Record<
    ReportedState,
    v.NumberSchema<undefined>
  >,
);

/**
 * How messages end, as the record of a client's day has them: `sent` is what the platform took, delivered or not; `failed` is what
 * will reach nobody, expired ones too; `held` is what the platform took and withholds. What is open or unknown is none of them.
 */
const outcomeKinds = ['sent', 'failed', 'held'] as const;
type OutcomeKind = (typeof outcomeKinds)[number];

/** What the record of a day has of a job: how its messages ended, and the calls to the platform that were made for them, at least. */
export const recordKinds = [...outcomeKinds, 'calls'] as const;
export type RecordKind = (typeof recordKinds)[number];
export type JobRecord = Readonly<Record<RecordKind, number>>;

const RecordSchema = v.object({ sent: v.number(), failed: v.number(), held: v.number(), calls: v.number() });

const kindOf: Readonly<Partial<Record<ReportedState, OutcomeKind>>> = {
  ...{ sent: 'sent', delivered: 'sent', read: 'sent' },
  ...{ failed: 'failed', expired: 'failed', held: 'held' },
};

/** How many messages in these states ended in which way. */
export function endingsOf(states: Iterable<ReportedState>): Readonly<Record<OutcomeKind, number>> {
  const ended = { sent: 0, failed: 0, held: 0 };
  for (const state of states) {
    const kind = kindOf[state];
    if (kind !== undefined) ended[kind] += 1;
  }
  return ended;
}

/** The attributes of the item. */
const StatementSchema = v.object({
  version: v.number(),
  /** The counts of its report, of a job of more than ten recipients: nothing is pending once `pending` is 0. */
  counts: v.exactOptional(CountsSchema),
  /** What the sums of its day have of it: of a small job as far as it was known when it was counted. */
  record: RecordSchema,
  cost: CostSchema,
  lines: v.pipe(v.string(), v.parseJson(), v.array(LineSchema)),
  /** The market of each recipient by its index, packed: an erased recipient keeps theirs (D60). */
  markets: v.pipe(
    v.instance(Uint8Array),
    v.transform((bytes) => unpacked(bytes)),
  ),
  /** What the sums of its month have of it, beside its reservation. */
  adjustedUnits: v.exactOptional(v.number()),
});
export type Statement = Readonly<v.InferOutput<typeof StatementSchema>>;

/** The statement that an item at `spentKey` holds. A job of which nothing was counted yet has none, and costs nothing so far. */
export function statementOf(item: unknown): Statement {
  return v.parse(StatementSchema, item);
}

/** As much of it as a list tells. */
const SummarySchema = v.pick(StatementSchema, ['counts', 'cost']);
export type StatementSummary = Readonly<v.InferOutput<typeof SummarySchema>>;

/** The same of an item of which no more may have been read. */
export function summaryOf(item: unknown): StatementSummary {
  return v.parse(SummarySchema, item);
}

/** The attributes of a statement as they are written. */
export function statementItem({ lines, markets, ...rest }: Statement): Readonly<Record<string, unknown>> {
  return { ...rest, lines: JSON.stringify(lines), markets: brotliCompressSync(markets.join(',')) };
}

/** Ten thousand markets are thirty thousand bytes. */
const mostUnpackedBytes = 100_000;

function unpacked(bytes: Uint8Array): string[] {
  return brotliDecompressSync(bytes, { maxOutputLength: mostUnpackedBytes }).toString('utf8').split(',');
}
