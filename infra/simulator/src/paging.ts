import { graphError } from './errors.ts';

/** A place never changes, so that a cursor stays valid while items come and go. */
export interface Placed {
  readonly place: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly paging?: {
    readonly cursors: { readonly before: string; readonly after: string };
    readonly next?: string;
    readonly previous?: string;
  };
}

const defaultLimit = 25;

/**
 * Cursors are opaque; `next` and `previous` exist only where a page follows or precedes; an empty page has no `paging`.
 * A limit above `maximum` is lowered silently.
 */
export function pageOf<T extends Placed>(
  list: readonly T[],
  options: { readonly query: URLSearchParams; readonly self: string; readonly maximum: number },
): Page<T> {
  const limit = Math.min(limitOf(options.query.get('limit')), options.maximum);
  const after = placeOf(options.query, 'after');
  const before = placeOf(options.query, 'before');
  let items: readonly T[];
  if (after !== undefined) {
    items = list.filter((item) => item.place > after).slice(0, limit);
  } else if (before !== undefined) {
    items = list.filter((item) => item.place < before).slice(-limit);
  } else {
    items = list.slice(0, limit);
  }
  const first = items[0];
  const last = items.at(-1);
  if (first === undefined || last === undefined) return { items };
  const cursors = { before: cursorOf(first.place), after: cursorOf(last.place) };
  const link = (name: 'after' | 'before') => linkTo(options, name, cursors[name]);
  return {
    items,
    paging: {
      cursors,
      ...(list.at(-1) === last ? {} : { next: link('after') }),
      ...(list[0] === first ? {} : { previous: link('before') }),
    },
  };
}

function limitOf(text: string | null): number {
  if (text === null) return defaultLimit;
  if (!/^\d{1,9}$/.test(text)) throw graphError(100, '(#100) Param limit must be an integer');
  if (Number(text) === 0) throw graphError(100, '(#100) Param limit must be greater than or equal to 1');
  return Number(text);
}

function cursorOf(place: number): string {
  return Buffer.from(`place:${place}`).toString('base64url');
}

function placeOf(query: URLSearchParams, name: 'after' | 'before'): number | undefined {
  const cursor = query.get(name);
  if (cursor === null) return undefined;
  const place = /^place:(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1];
  if (place === undefined) throw graphError(100, `(#100) Param ${name} is not a valid cursor`);
  return Number(place);
}

function linkTo(
  options: { readonly query: URLSearchParams; readonly self: string },
  name: 'after' | 'before',
  cursor: string,
): string {
  const query = new URLSearchParams(options.query);
  query.delete('after');
  query.delete('before');
  query.set(name, cursor);
  return `${options.self}?${query}`;
}
