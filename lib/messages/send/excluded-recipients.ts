import type { ChunkRecipient, QueuedChunk } from '../dispatch/chunk.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import { type Outcome, placeInSlice } from '../dispatch/slice.ts';
import { canonicalAddress } from '../request/recipient-address.ts';

export interface Exclusions {
  /** These people opted out of this sender's marketing, spelled as `canonicalAddress` does. */
  readonly stopped: ReadonlySet<string>;
  readonly erased: DispatchItemState['erased'];
}

/** Returns the outcomes of those in a claimed slice who must not be called, by place. */
export function excludedIn(recipients: readonly ChunkRecipient[], barring: Exclusions): ReadonlyMap<number, Outcome> {
  return new Map(
    recipients.flatMap((recipient) => {
      const outcome = excludedBy(recipient, barring);
      return outcome === undefined ? [] : [[placeInSlice(recipient.index), outcome] as const];
    }),
  );
}

/** A recipient without an address was erased before the chunk was made. */
function excludedBy({ index, to }: ChunkRecipient, { stopped, erased: indexes }: Exclusions): Outcome | undefined {
  if (to === undefined || indexes?.has(index)) return erased;
  return stopped.has(canonicalAddress(to)) ? optedOut : undefined;
}

/** The person opted out of the sender's marketing (D55). */
export const optedOut = { state: 'failed', code: 'opted_out' } as const satisfies Outcome;

/** The operator has erased the person (D60). */
export const erased = { state: 'failed', code: 'erased' } as const satisfies Outcome;

/** Removes address and message of erased recipients (D60): copies of a chunk may outlive the retention of a queue. */
export function withoutErased(chunk: QueuedChunk, { erased: indexes }: Pick<DispatchItemState, 'erased'>): QueuedChunk {
  if (indexes === undefined) return chunk;
  const left = (recipient: ChunkRecipient): ChunkRecipient => {
    if (!indexes.has(recipient.index)) return recipient;
    const { to: _person, request: _message, params: _parameters, ...rest } = recipient;
    return rest;
  };
  return { ...chunk, slices: chunk.slices.map((slice) => ({ ...slice, recipients: slice.recipients.map(left) })) };
}
