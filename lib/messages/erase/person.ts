import { canonicalAddress } from '../request/recipient-address.ts';

/** The ids are one person's: digits of numbers, and business-scoped user ids. */
export type PersonIds = ReadonlySet<string>;

/** Tells whether an address is the person's, with or without the plus. */
export function isOf(ids: PersonIds, address: string | undefined): boolean {
  return address !== undefined && ids.has(canonicalAddress(address));
}

/** Tells whether a text may contain an id: the fast half of `spells`. */
export function mayName(ids: PersonIds, text: string): boolean {
  for (const id of ids) if (text.includes(id)) return true;
  return false;
}

/** Tells whether a text contains an id as a whole word: part of a longer number is another number. */
export function spells(ids: PersonIds, text: string): boolean {
  return [...ids].some((id) => wordsOf(id, text).next().done === false);
}

export function without(ids: PersonIds, text: string, instead: string): string {
  let rest = text;
  for (const id of ids) {
    let written = '';
    let from = 0;
    for (const at of wordsOf(id, rest)) {
      written += rest.slice(from, at) + instead;
      from = at + id.length;
    }
    rest = written + rest.slice(from);
  }
  return rest;
}

const wordCharacter = /[0-9A-Za-z]/;

function* wordsOf(id: string, text: string): Generator<number> {
  for (let at = text.indexOf(id); at >= 0; at = text.indexOf(id, at + id.length)) {
    const [before = '', after = ''] = [text[at - 1], text[at + id.length]];
    if (!wordCharacter.test(before) && !wordCharacter.test(after)) yield at;
  }
}
