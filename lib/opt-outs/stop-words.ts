import type { Reply } from '../platform/webhook/person-words.ts';
import words from './stop-words.json' with { type: 'json' };

/** Which texts of people end marketing and begin it again. Provisioning may put another one in the place of `stopWords`. */
export interface WordList {
  readonly stop: readonly string[];
  readonly start: readonly string[];
  /** Labels and payloads of the quick replies that end marketing. */
  readonly stopButtons: readonly string[];
}

/**
 * Spanish, Portuguese, English, French, German and Italian. Each stands for all of what was written. Words that answer a question
 * as well (`no`, `yes`, `ok`) are left out.
 */
export const stopWords: WordList = words;

/** Longer than any word with its decoration. What the platform's reader has cut is longer (person-words.ts), and so is never whole. */
export const longestText = 100;

/**
 * Judges what people write: `stop` or `start` where the whole of it is such a word, else undefined (D55). Of a word its letters and
 * digits count: not case, accents, punctuation, signs, or characters without width; letters that stand alone are one word
 * (S.T.O.P.). A tapped button counts by its label or payload and by nothing else: a label "Cancel" may mean an appointment.
 */
export function wordJudge({ stop, start, stopButtons }: WordList): (reply: Reply) => 'stop' | 'start' | undefined {
  const [stops, starts, buttons] = [stop, start, stopButtons].map((list) => new Set(list.map(folded)));
  return ({ by, text, payload }) => {
    const isAmong = (list: Set<string> | undefined, said = '') => {
      const key = said.length > longestText ? '' : folded(said);
      return key !== '' && list?.has(key) === true;
    };
    if (by === 'text') return isAmong(stops, text) ? 'stop' : isAmong(starts, text) ? 'start' : undefined;
    if (by === 'quick_reply' || by === 'button')
      return isAmong(buttons, text) || isAmong(buttons, payload) ? 'stop' : undefined;
    return undefined;
  };
}

/** The words of a text, a space between them; empty where it has none. Two texts that fold to one are one word. */
export function folded(text: string): string {
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '');
  const parts = plain.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== '');
  return parts.every((part) => part.length === 1) ? parts.join('') : parts.join(' ');
}
