import type { ChunkRecipient, QueuedChunk } from '../chunk.ts';
import type { JobState } from '../job-state.ts';
import { addresseeOf } from '../request/addressee.ts';
import { type Outcome, placeInSlice } from './claims/slice.ts';

/** What is known, after the claim, of people who must not be called. */
export interface Barring {
  /** Who wants no marketing from the sender, as `addresseeOf` spells recipients. */
  readonly stopped: ReadonlySet<string>;
  /** Of the job, read after the claim: whom the operator has erased, by index. */
  readonly erased: JobState['erased'];
}

/** Of the recipients of a claimed slice those who must not be called, by their place, and how they end. */
export function barredIn(recipients: readonly ChunkRecipient[], barring: Barring): ReadonlyMap<number, Outcome> {
  return new Map(
    recipients.flatMap((recipient) => {
      const outcome = barredBy(recipient, barring);
      return outcome === undefined ? [] : [[placeInSlice(recipient.index), outcome] as const];
    }),
  );
}

/** A recipient without an address was erased before the job was put into chunks. */
function barredBy({ index, to }: ChunkRecipient, { stopped, erased: indexes }: Barring): Outcome | undefined {
  if (to === undefined || indexes?.has(index)) return erased;
  return stopped.has(addresseeOf(to)) ? optedOut : undefined;
}

/** Who wants no marketing from the sender (D55). */
export const optedOut = { state: 'failed', code: 'opted_out' } as const satisfies Outcome;

/** Whom the operator has erased (D60). */
export const erased = { state: 'failed', code: 'erased' } as const satisfies Outcome;

/** Who was erased (D60) waits on without address and message: a chunk may wait for weeks, and its copies outlive what a queue keeps. */
export function withoutErased(chunk: QueuedChunk, { erased: indexes }: Pick<JobState, 'erased'>): QueuedChunk {
  if (indexes === undefined) return chunk;
  const left = (recipient: ChunkRecipient): ChunkRecipient => {
    if (!indexes.has(recipient.index)) return recipient;
    const { to: _person, request: _message, ...rest } = recipient;
    return rest;
  };
  return { ...chunk, slices: chunk.slices.map((slice) => ({ ...slice, recipients: slice.recipients.map(left) })) };
}
