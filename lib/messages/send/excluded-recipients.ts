import type { TriedRecipient } from '../dispatch/call-facts.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import { type Outcome, placeInSlice } from '../dispatch/slice.ts';
import { canonicalAddress } from '../request/recipient-address.ts';

export interface Exclusions {
  /** These people opted out of this sender's marketing, spelled as `canonicalAddress` does. */
  readonly stopped: ReadonlySet<string>;
  readonly erased: DispatchItemState['erased'];
}

/** Returns the outcomes of those in a claimed slice who must not be called, by place. */
export function excludedIn(recipients: readonly TriedRecipient[], barring: Exclusions): ReadonlyMap<number, Outcome> {
  return new Map(
    recipients.flatMap((recipient) => {
      const outcome = excludedBy(recipient, barring);
      return outcome === undefined ? [] : [[placeInSlice(recipient.index), outcome] as const];
    }),
  );
}

/** A recipient without an address was erased before the try was composed. */
function excludedBy({ index, to }: TriedRecipient, { stopped, erased: indexes }: Exclusions): Outcome | undefined {
  if (to === undefined || indexes?.has(index)) return erased;
  return stopped.has(canonicalAddress(to)) ? optedOut : undefined;
}

/** The person opted out of the sender's marketing (D55). */
export const optedOut = { state: 'failed', code: 'opted_out' } as const satisfies Outcome;

/** The operator has erased the person (D60). */
export const erased = { state: 'failed', code: 'erased' } as const satisfies Outcome;
