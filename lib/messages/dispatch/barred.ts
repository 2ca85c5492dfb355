import type { ChunkRecipient } from '../chunk.ts';
import type { JobState } from '../job-state.ts';
import { type Outcome, placeInSlice } from './claims/slice.ts';

/** Of the recipients of a claimed slice those who must not be called, by their place, and how they end. */
export function barredIn(_recipients: readonly ChunkRecipient[]): ReadonlyMap<number, Outcome> {
  return new Map();
}

/** Who wants no marketing from the sender (D55). */
export const optedOut = { state: 'failed', code: 'opted_out' } as const satisfies Outcome;

/** Whom the operator has erased (D60). */
export const erased = { state: 'failed', code: 'erased' } as const satisfies Outcome;

/** Of the recipients of a claimed slice those whom the operator has erased by their job, read after the claim, by their place. */
export function erasedPlaces(
  { erased: indexes }: Pick<JobState, 'erased'>,
  recipients: readonly ChunkRecipient[],
): [place: number, outcome: Outcome][] {
  return recipients
    .filter(({ index, to }) => to === undefined || indexes?.has(index))
    .map(({ index }) => [placeInSlice(index), erased]);
}
