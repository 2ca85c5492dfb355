import type { TriedRecipient } from '../dispatch/call-facts.ts';
import type { Ending } from '../dispatch/item-state.ts';
import { lastCallBeforeEndMs, lotAt, type Opening, openingStateAt } from '../dispatch/lots.ts';
import type { Outcome } from '../dispatch/slice.ts';

/**
 * Returns the openings of a recipient that begin within its time to live, or undefined unless its send is scheduled.
 */
export function openingsOf(
  { lots, expiresAtMs = Number.POSITIVE_INFINITY }: Ending,
  { index }: Pick<TriedRecipient, 'index'>,
): readonly Opening[] | undefined {
  return lots && lotAt(lots, index).open.filter(([fromMs]) => fromMs < expiresAtMs);
}

/** Returns the outcome when a call at this moment would be outside the openings, else undefined. */
export function outsideOf(
  callFacts: Ending,
  recipient: Pick<TriedRecipient, 'index'>,
  atMs: number,
): Outcome | undefined {
  const open = openingsOf(callFacts, recipient);
  const standing = open && openingStateAt(open, atMs, lastCallBeforeEndMs);
  if (standing === undefined || standing.kind === 'open') return undefined;
  if (standing.kind === 'closed') return { state: 'again', dueMs: standing.opensAtMs };
  return { state: 'expired', code: 'expired' };
}
