import { oneSpelling } from '../../opt-outs/one-spelling.ts';
import { isUserId } from '../../platform/user-id.ts';
import type { QueuedChunk } from '../chunk.ts';
import { type InboundWord, recipientsAmong } from '../inbound/inbound-message.ts';
import { addresseeOf } from '../request/addressee.ts';
import type { Told } from './claims/run-chunk.ts';
import { type Slice, sliceAt } from './claims/slice.ts';

/** The platform's code for a person who has stopped marketing from the number. */
export const stoppedThere = '131050';

/** Ended tries as recorded, and by index how the platform spells numbers. */
export interface EndedTries {
  readonly slices: readonly Slice[];
  readonly spelled: ReadonlyMap<number, string>;
}

/**
 * What a chunk's endings say about people (D55): refused marketing, and spellings unknown to `oneSpelling`. A repeated
 * delivery repeats refusals, not spellings.
 */
export function wordsOfEndings(
  { heedsOptOuts, clientId }: QueuedChunk,
  endings: readonly Told[],
  { slices, spelled }: EndedTries,
): InboundWord[] {
  if (heedsOptOuts === undefined) return [];
  const claimedAtMs = new Map(slices.map(({ key, atMs }) => [key.slice, atMs]));
  return endings.flatMap(({ recipient, outcome }): InboundWord[] => {
    const { to } = recipient;
    if (to === undefined) return [];
    // The claim's time: later words of the person win, however often this one is repeated.
    const atMs = claimedAtMs.get(sliceAt(recipient.index)) ?? 0;
    const { state, code } = outcome.state === 'again' ? { state: 'again', code: undefined } : outcome;
    if (state === 'failed' && code === stoppedThere) {
      return [{ kind: 'refused', clientId, recipients: recipientsAmong([addresseeOf(to)]), atMs }];
    }
    const waId = state === 'sent' ? otherSpelling(to, spelled.get(recipient.index)) : undefined;
    return waId === undefined
      ? []
      : [{ kind: 'respelled', recipients: recipientsAmong([addresseeOf(to), waId]), atMs }];
  });
}

function otherSpelling(to: string, waId: string | undefined): string | undefined {
  if (waId === undefined || isUserId(to)) return undefined;
  return oneSpelling(waId) === oneSpelling(addresseeOf(to)) ? undefined : waId;
}
