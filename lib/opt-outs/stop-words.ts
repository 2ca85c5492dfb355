import type { Reply } from '../platform/webhook/person-updates.ts';
import words from './stop-words.json' with { type: 'json' };

/** Provisioning may replace each of these lists. */
export interface StopWordList {
  readonly stop: readonly string[];
  readonly start: readonly string[];
  /** These labels and payloads of quick replies end marketing. */
  readonly stopButtons: readonly string[];
}

/**
 * The words are Spanish, Portuguese, English, French, German and Italian. Each word must be the whole text. Words that
 * also answer questions (`no`, `yes`, `ok`) are excluded.
 */
export const stopWords: StopWordList = { stop: words.stop, start: words.start, stopButtons: words.stopButtons };

/**
 * The platform's own button on marketing templates has these labels, one or more for each known language (D55; platform
 * reference, 10.5). They count beside every list of buttons, because a template made at the platform has no other sign.
 */
const platformStopButtons = Object.values(words.platformStopButtons.labels).flat();

/**
 * No decorated word is so long. A text that the platform's reader has cut is longer (person-updates.ts), so it never
 * matches.
 */
export const longestText = 100;

/**
 * Judges a reply: `stop` or `start` if the whole text is such a word (D55). Only letters and digits count, and single
 * letters join (S.T.O.P.). Buttons count by label or payload only, the platform's own labels only when pressed.
 */
export function stopWordMatcher({
  stop,
  start,
  stopButtons,
}: StopWordList): (reply: Reply) => 'stop' | 'start' | undefined {
  const [stops, starts, buttons] = [stop, start, [...platformStopButtons, ...stopButtons]].map(
    (list) => new Set(list.map(folded)),
  );
  return ({ by, text, payload }) => {
    const isAmong = (list: Set<string> | undefined, phrase = '') => {
      const key = phrase.length > longestText ? '' : folded(phrase);
      return key !== '' && list?.has(key) === true;
    };
    if (by === 'text') return isAmong(stops, text) ? 'stop' : isAmong(starts, text) ? 'start' : undefined;
    if (by === 'quick_reply' || by === 'button')
      return isAmong(buttons, text) || isAmong(buttons, payload) ? 'stop' : undefined;
    return undefined;
  };
}

/** Returns the words of a text, separated by spaces, without case, accents, punctuation or zero-width characters. */
export function folded(text: string): string {
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '');
  const parts = plain.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== '');
  return parts.every((part) => part.length === 1) ? parts.join('') : parts.join(' ');
}
