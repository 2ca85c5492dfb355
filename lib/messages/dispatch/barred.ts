import type { ChunkRecipient } from '../chunk.ts';
import { addresseeOf } from '../request/addressee.ts';
import { type Outcome, placeInSlice } from './claims/slice.ts';

/** What is known, after the claim, of people who must not be called. */
export interface Barring {
  /** Who wants no marketing from the sender, as `addresseeOf` spells recipients. */
  readonly stopped: ReadonlySet<string>;
}

/** Of the recipients of a claimed slice those who must not be called, by their place, and how they end. */
export function barredIn(recipients: readonly ChunkRecipient[], { stopped }: Barring): ReadonlyMap<number, Outcome> {
  const isStopped = ({ to }: ChunkRecipient) => stopped.has(addresseeOf(to));
  return new Map(recipients.filter(isStopped).map(({ index }) => [placeInSlice(index), optedOut]));
}

/** Who wants no marketing from the sender (D55). */
export const optedOut = { state: 'failed', code: 'opted_out' } as const satisfies Outcome;

/** Whom the operator has erased (D60). */
export const erased = { state: 'failed', code: 'erased' } as const satisfies Outcome;
