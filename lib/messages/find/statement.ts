import * as v from 'valibot';
import type { ItemKey } from '../../aws/item-key.ts';
import { jobPartition } from '../items.ts';
import { type ReportedState, reportedStates } from '../receipts/reported-state.ts';

/** Where stands what was counted of a job (D58). */
export function statementKey(jobId: string): ItemKey {
  return { pk: jobPartition(jobId), sk: 'SPENT' };
}

/** As much of it as a list tells. */
const StatementSchema = v.object({
  /** Of a job of more than ten recipients. */
  counts: v.exactOptional(
    v.object(
      Object.fromEntries(reportedStates.map((state) => [state, v.number()])) as Record<
        ReportedState,
        v.NumberSchema<undefined>
      >,
    ),
  ),
  cost: v.object({ units: v.number(), basis: v.picklist(['platform', 'list']), final: v.boolean() }),
});
export type Statement = Readonly<v.InferOutput<typeof StatementSchema>>;

export function statementOf(item: unknown): Statement {
  return v.parse(StatementSchema, item);
}
