import type { ChunkRecipient } from '../chunk.ts';
import type { JobState } from '../job-state.ts';
import { addresseeOf } from '../request/addressee.ts';
import { type Outcome, placeInSlice } from './claims/slice.ts';

/** What is known, after the claim, of people who must not be called. */
export interface Barring {
  /** Who wants no marketing from the sender, as `addresseeOf` spells recipients. */
  readonly stopped: ReadonlySet<string>;
}

/** Of the recipients of a claimed slice those who must not be called, by their place, and how they end. */
export function barredIn(recipients: readonly ChunkRecipient[], { stopped }: Barring): ReadonlyMap<number, Outcome> {
  const isStopped = ({ to }: ChunkRecipient) => to !== undefined && stopped.has(addresseeOf(to));
  return new Map(recipients.filter(isStopped).map(({ index }) => [placeInSlice(index), optedOut]));
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
