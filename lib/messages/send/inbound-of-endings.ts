import { canonicalNumber } from '../../opt-outs/canonical-number.ts';
import { isUserId } from '../../platform/user-id.ts';
import type { CallFacts } from '../dispatch/call-facts.ts';
import { type Slice, sliceAt } from '../dispatch/slice.ts';
import { type InboundUpdate, recipientsAmong } from '../inbound/inbound-message.ts';
import { canonicalAddress } from '../request/recipient-address.ts';
import type { RecipientEnding } from './ending-events.ts';

/** The person has stopped marketing from the number. */
export const marketingRefusedCode = '131050';

/** Tries are as recorded; by index, the platform's spelling of numbers is kept. */
export interface EndedTries {
  readonly slices: readonly Slice[];
  readonly spelled: ReadonlyMap<number, string>;
}

/**
 * Returns what a try's endings say about people (D55): refused marketing, and spellings unknown to `canonicalNumber`.
 * A repeated delivery repeats refusals, not spellings.
 */
export function inboundOfEndings(
  { heedsOptOuts, clientId }: CallFacts,
  endings: readonly RecipientEnding[],
  { slices, spelled }: EndedTries,
): InboundUpdate[] {
  if (heedsOptOuts === undefined) return [];
  const claimedAtMs = new Map(slices.map(({ key, atMs }) => [key.slice, atMs]));
  return endings.flatMap(({ recipient, outcome }): InboundUpdate[] => {
    const { to } = recipient;
    if (to === undefined) return [];
    // The update has the time of the claim: a later change by the person wins, however often this update is repeated.
    const atMs = claimedAtMs.get(sliceAt(recipient.index)) ?? 0;
    const { state, code } = outcome.state === 'again' ? { state: 'again', code: undefined } : outcome;
    if (state === 'failed' && code === marketingRefusedCode) {
      return [{ kind: 'refused', clientId, recipients: recipientsAmong([canonicalAddress(to)]), atMs }];
    }
    const waId = state === 'sent' ? otherSpelling(to, spelled.get(recipient.index)) : undefined;
    return waId === undefined
      ? []
      : [{ kind: 'respelled', recipients: recipientsAmong([canonicalAddress(to), waId]), atMs }];
  });
}

function otherSpelling(to: string, waId: string | undefined): string | undefined {
  if (waId === undefined || isUserId(to)) return undefined;
  return canonicalNumber(waId) === canonicalNumber(canonicalAddress(to)) ? undefined : waId;
}
