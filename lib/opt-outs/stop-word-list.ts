import * as v from 'valibot';
import type { ItemKey } from '../aws/item-key.ts';
import { type StopWordList, stopWords } from './stop-words.ts';

/** The directory table has the words of the operator's file here, if any. */
export const stopWordListKey: ItemKey = { pk: 'OPTOUTS', sk: 'WORDS' };

/** There is one attribute, so that a write leaves no list that the file has dropped. */
const StopWordListItemSchema = v.object({
  words: v.object({
    stop: v.optional(v.array(v.string())),
    start: v.optional(v.array(v.string())),
    stopButtons: v.optional(v.array(v.string())),
  }),
});

export type StopWordListItem = v.InferOutput<typeof StopWordListItemSchema>;

/** Returns the shipped words, each list replaced by the operator's, if given (D55). Throws on another form. */
export function stopWordListOf(item: unknown): StopWordList {
  if (item === undefined) return stopWords;
  const {
    stop = stopWords.stop,
    start = stopWords.start,
    stopButtons = stopWords.stopButtons,
  } = v.parse(StopWordListItemSchema, item).words;
  return { ...stopWords, stop, start, stopButtons };
}
