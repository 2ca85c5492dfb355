import * as v from 'valibot';
import { nearHint } from '../../http/near-name.ts';
import { clip } from '../../http/parse.ts';
import { invalid } from '../../http/refusal.ts';
import type { JobState } from '../job-state.ts';
import type { OutcomeCounts } from '../report/outcome.ts';

/** Where a dispatch stands, in one word (D59). */
const dispatchStates = ['scheduled', 'running', 'held', 'complete', 'cancelled'] as const;
export type DispatchState = (typeof dispatchStates)[number];
export const DispatchStateWord = v.picklist(dispatchStates);

/** What is known of a dispatch for its state: when it may leave, how its job stands, and what became of its messages. */
export interface StandingFacts {
  /** The first moment at which any of it may leave; of a send with a time of its own alone (D56). */
  readonly fromMs: number | undefined;
  readonly state: JobState;
  readonly counts: Pick<OutcomeCounts, 'pending'>;
}

/**
 * The state of a dispatch. The client's own cancellation goes before all others, also where all had left by then; then whether
 * anything is pending; then what it waits for: a hold before a time. Between two of its windows a dispatch is `running`.
 */
export function dispatchState({ fromMs, state, counts }: StandingFacts, nowMs: number): DispatchState {
  if (state.stop?.code === 'cancelled') return 'cancelled';
  if (counts.pending === 0) return 'complete';
  if (state.stop === undefined && state.parked !== undefined) return 'held';
  return state.stop === undefined && fromMs !== undefined && nowMs < fromMs ? 'scheduled' : 'running';
}

/** The states that a filter names; undefined for all. Refuses what is no state with a 400 that names it. */
export function dispatchStatesOf(filter: readonly string[] | undefined): ReadonlySet<DispatchState> | undefined {
  if (filter === undefined) return undefined;
  const known: ReadonlySet<string> = new Set(dispatchStates);
  const stray = filter.find((state) => !known.has(state));
  if (stray !== undefined) {
    const hint = nearHint(stray, dispatchStates);
    throw invalid('state', `state must be one of ${dispatchStates.join(', ')}; received "${clip(stray)}"${hint}`);
  }
  return new Set(filter as DispatchState[]);
}
