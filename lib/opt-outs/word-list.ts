import * as v from 'valibot';
import type { ItemKey } from '../aws/item-key.ts';
import { present } from '../keys/present.ts';
import { stopWords, type WordList } from './stop-words.ts';

/** Where the directory table keeps the words of the operator's file; nothing is there while the file has none. */
export const wordListKey: ItemKey = { pk: 'OPTOUTS', sk: 'WORDS' };

/** Under one attribute, so that a write of it leaves no list behind that the file no longer has. */
const WordListItemSchema = v.object({
  words: v.object({
    stop: v.optional(v.array(v.string())),
    start: v.optional(v.array(v.string())),
    stopButtons: v.optional(v.array(v.string())),
  }),
});

export type WordListItem = v.InferOutput<typeof WordListItemSchema>;

/** The shipped words, and in the place of each list the one of the operator's file, where it has one (D55). Throws for another form. */
export function wordListOf(item: unknown): WordList {
  if (item === undefined) return stopWords;
  const { stop, start, stopButtons } = v.parse(WordListItemSchema, item).words;
  return { ...stopWords, ...present({ stop, start, stopButtons }) };
}
