import * as v from 'valibot';
import type { DispatchPointer } from '../dispatch/whole-dispatch.ts';
import type { Cost } from '../report/cost.ts';
import { DispatchStateWord, dispatchState } from '../report/dispatch-state.ts';
import { areAskedFor, type DispatchesQuery } from '../report/dispatches.ts';
import type { Dispatches, PageRequest } from '../report/dispatches-store.ts';
import { DispatchSchema, statusAnswer } from '../report/report.ts';
import type { StoredStatus, StoredStatuses } from './dispatch-status-store.ts';

/** A search shows the head of a dispatch's report, its state, and its cost (D59). */
export const FoundDispatchSchema = v.object({
  ...DispatchSchema.entries,
  state: v.pipe(DispatchStateWord, v.description('Where the dispatch stands, in one word.')),
});

export interface FindPorts {
  readonly dispatches: Pick<Dispatches, 'readAccepted'>;
  readonly standings: StoredStatuses;
  readonly nowMs: () => number;
}

export interface FoundPage {
  readonly data: readonly v.InferOutput<typeof FoundDispatchSchema>[];
  /** The next page begins after this sort key; the last has none. */
  readonly next?: string;
}

/**
 * Reads one page, newest first, in two round trips. Filters on what was read may make a page short; only the last
 * has no `next`.
 */
export async function findDispatches(
  { dispatches, standings, nowMs }: FindPorts,
  question: DispatchesQuery,
  asked: PageRequest,
): Promise<FoundPage> {
  const { accepted, next } = await dispatches.readAccepted(question, asked);
  const statuses = accepted.length === 0 ? [] : await standings.of(accepted);
  const data = statuses.flatMap((standing, at) => {
    const pointer = accepted[at];
    if (standing === null || pointer === undefined) return [];
    const row = foundDispatch(question.clientId, { pointer, standing }, nowMs());
    return areAskedFor(question, row) ? [row] : [];
  });
  const last = statuses.length < accepted.length ? accepted[statuses.length - 1]?.sk : next;
  return { data, next: last };
}

function foundDispatch(
  clientId: number,
  { pointer, standing }: { readonly pointer: DispatchPointer; readonly standing: StoredStatus },
  nowMs: number,
): v.InferOutput<typeof FoundDispatchSchema> {
  const { state, counts } = standing;
  return {
    ...statusAnswer({ ...pointer, clientId }, state.retriedBy, { counts, cost: costOf(standing) }),
    state: dispatchState({ fromMs: pointer.when?.fromMs, state, counts }, nowMs),
  };
}

/**
 * A small dispatch's statement has no counts (spend/statement.ts), so the present counts decide whether anything may
 * still be billed.
 */
function costOf({ statement, counts }: StoredStatus): Cost {
  const mayBeBilled = counts.pending + counts.held + counts.sent + counts.unknown > 0;
  if (statement === undefined) {
    return { units: 0, basis: 'list', final: !mayBeBilled && counts.delivered + counts.read === 0 };
  }
  return statement.counts === undefined ? { ...statement.cost, final: !mayBeBilled } : statement.cost;
}
