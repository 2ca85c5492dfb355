import * as v from 'valibot';
import { documentedAs } from './documented.ts';
import { invalid } from './refusal.ts';

// Returns query values from the gateway: repeated parameters are joined by commas. Flags and numbers are strict.

// An empty parameter is refused, because a script's unset variable would ask for all (D16). A search and a list of
// fields alone count as missing, as forms send them (D8).

/** Keeps a whole text, or a cursor. */
export const textFilter = v.optional(v.pipe(v.string(), v.nonEmpty()));

export const searchFilter = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) => (text === '' ? undefined : text)),
  ),
);

/** Values are separated by commas, without blanks around them. */
export const listFilter = v.optional(
  v.pipe(
    v.string(),
    v.transform(valuesIn),
    v.nonEmpty(),
    documentedAs(() => v.array(v.pipe(v.string(), v.nonEmpty()))),
  ),
);

/** Is a list of names of fields, or undefined when none is left. */
export const fieldsFilter = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) => {
      const names = valuesIn(text);
      return names.length === 0 ? undefined : names;
    }),
    documentedAs(() => v.array(v.string())),
  ),
);

function valuesIn(text: string): string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/** Documents a list with these words. The page itself refuses other words. */
export function listOfWords(word: v.GenericSchema) {
  return v.optional(
    v.pipe(
      listFilter.wrapped,
      documentedAs(() => v.array(word)),
    ),
  );
}

const rfc3339 = /^(\d{4}-\d{2}-\d{2})[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** Parses an RFC 3339 moment to milliseconds. */
export function moment(name: string) {
  const message = expected(name, 'a time such as 2026-11-22T10:00:00Z (RFC 3339; a plus is %2B in a query)');
  return v.optional(
    v.pipe(
      v.string(),
      v.check(isMoment, message),
      v.transform(Date.parse),
      documentedAs(() => v.pipe(v.string(), v.isoTimestamp())),
    ),
  );
}

/** `Date` accepts the 30th of February as the 2nd of March. */
export function isMoment(text: string): boolean {
  const date = rfc3339.exec(text)?.[1];
  if (date === undefined || Number.isNaN(Date.parse(text))) return false;
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}

function expected(name: string, what: string): (issue: v.BaseIssue<unknown>) => string {
  return ({ input }) => {
    const text = String(input);
    return `${name} must be ${what}, received "${text.length <= 40 ? text : `${text.slice(0, 37)}...`}"`;
  };
}

const dayForm = /^\d{4}-\d{2}-\d{2}$/;

/** Keeps an ISO 8601 day as text. */
export function day(name: string) {
  const message = expected(name, 'a day such as 2026-11-22');
  return v.optional(
    v.pipe(
      v.string(),
      v.check((text) => dayForm.test(text) && isMoment(`${text}T00:00:00Z`), message),
      documentedAs(() => v.pipe(v.string(), v.isoDate())),
    ),
  );
}

export function word<const Words extends readonly string[]>(name: string, words: Words) {
  return v.optional(v.picklist(words, expected(name, words.join(', '))));
}

export function flag(name: string) {
  return v.optional(
    v.pipe(
      v.picklist(['true', 'false'], expected(name, 'true or false')),
      v.transform((text) => text === 'true'),
      documentedAs(() => v.boolean()),
    ),
  );
}

const defaultPageSize = 20;
const maxPageSize = 100;

/** Parses a whole number from 1 to `maximum` in plain decimal. */
export function countTo(name: string, maximum: number) {
  const what = maximum === Number.MAX_SAFE_INTEGER ? 'a whole number from 1' : `a whole number from 1 to ${maximum}`;
  const message = expected(name, what);
  return v.optional(
    v.pipe(
      v.string(),
      // The check is on text, because other text may give the same number.
      v.check((text) => /^[1-9]\d{0,15}$/.test(text) && Number(text) <= maximum, message),
      v.transform(Number),
      documentedAs(() => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(maximum))),
    ),
  );
}

/** A paged listing's query schema has these entries (D8). */
export const pageQuery = {
  page: countTo('page', Number.MAX_SAFE_INTEGER),
  size: countTo('size', maxPageSize),
  limit: countTo('limit', maxPageSize),
};

export interface Page {
  readonly page: number;
  readonly size: number;
}

/** The default is the first page, of 20. `limit` is a synonym of `size`; two different values are refused. */
export function pageOf(query: {
  readonly page?: number | undefined;
  readonly size?: number | undefined;
  readonly limit?: number | undefined;
}): Page {
  if (query.size !== undefined && query.limit !== undefined && query.size !== query.limit) {
    throw invalid('limit', 'size and limit mean the same and differ');
  }
  return { page: query.page ?? 1, size: query.size ?? query.limit ?? defaultPageSize };
}

/** Returns the items of a page; empty past the end. */
export function sliceOf<T>(items: readonly T[], { page, size }: Page): T[] {
  return items.slice((page - 1) * size, page * size);
}
