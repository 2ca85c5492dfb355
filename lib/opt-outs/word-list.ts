import * as v from 'valibot';
import type { ItemKey } from '../aws/item-key.ts';
import { present } from '../keys/present.ts';
import { stopWords, type WordList } from './stop-words.ts';

/** The words of the operator's file in the directory table; absent without any. */
export const wordListKey: ItemKey = { pk: 'OPTOUTS', sk: 'WORDS' };

/** One attribute, so that a write leaves no list that the file has dropped. */
const WordListItemSchema = v.object({
  words: v.object({
    stop: v.optional(v.array(v.string())),
    start: v.optional(v.array(v.string())),
    stopButtons: v.optional(v.array(v.string())),
  }),
});

export type WordListItem = v.InferOutput<typeof WordListItemSchema>;

/** The shipped words, each list replaced by the operator's, if given (D55). Throws on another form. */
export function wordListOf(item: unknown): WordList {
  if (item === undefined) return stopWords;
  const { stop, start, stopButtons } = v.parse(WordListItemSchema, item).words;
  return { ...stopWords, ...present({ stop, start, stopButtons }) };
}
