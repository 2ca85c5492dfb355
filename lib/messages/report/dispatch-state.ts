import * as v from 'valibot';
import { didYouMean } from '../../http/closest-name.ts';
import { clip } from '../../http/parse.ts';
import { invalid } from '../../http/refusal.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import type { OutcomeCounts } from './outcome.ts';

/** One word says how a dispatch stands (D59). */
const dispatchStates = ['scheduled', 'running', 'held', 'complete', 'cancelled'] as const;
export type DispatchState = (typeof dispatchStates)[number];
export const DispatchStateWord = v.picklist(dispatchStates);

/**
 * The client's cancellation prevails, even if all messages had left. Then pending messages count, then a hold, then the
 * start time. Between two windows a dispatch is `running`.
 */
export function dispatchState(
  {
    fromMs,
    state,
    counts,
  }: {
    /** No call of a scheduled send is earlier (D56). */
    readonly fromMs: number | undefined;
    readonly state: DispatchItemState;
    readonly counts: Pick<OutcomeCounts, 'pending'>;
  },
  nowMs: number,
): DispatchState {
  if (state.stop?.code === 'cancelled') return 'cancelled';
  if (counts.pending === 0) return 'complete';
  if (state.stop === undefined && state.parked !== undefined) return 'held';
  return state.stop === undefined && fromMs !== undefined && nowMs < fromMs ? 'scheduled' : 'running';
}

/** Returns the states in a filter, each once and sorted, or undefined for all. Refuses an unknown state with 400. */
export function dispatchStatesOf(filter: readonly string[] | undefined): DispatchState[] | undefined {
  if (filter === undefined) return undefined;
  const known: ReadonlySet<string> = new Set(dispatchStates);
  const stray = filter.find((state) => !known.has(state));
  if (stray !== undefined) {
    const hint = didYouMean(stray, dispatchStates);
    throw invalid('state', `state must be one of ${dispatchStates.join(', ')}; received "${clip(stray)}"${hint}`);
  }
  return [...new Set(filter as DispatchState[])].sort();
}
