import * as v from 'valibot';
import { expect, test } from 'vitest';
import { parse } from '../../../lib/http/parse.ts';
import {
  fieldsFilter,
  flag,
  listFilter,
  pageOf,
  pageQuery,
  searchFilter,
  sliceOf,
  textFilter,
} from '../../../lib/http/query.ts';
import { rows } from '../../support/rows.ts';

const Query = v.object({
  ...{ text: textFilter, search: searchFilter, list: listFilter, fields: fieldsFilter, active: flag('active') },
  ...pageQuery,
});

test.each([
  [{}, {}],
  [{ text: 'a' }, { text: 'a' }],
  [{ search: 'a' }, { search: 'a' }],
  [{ search: '' }, { search: undefined }],
  [{ list: 'a, b,,c' }, { list: ['a', 'b', 'c'] }],
  [{ fields: 'a, b,,c' }, { fields: ['a', 'b', 'c'] }],
  [{ fields: ' ,' }, { fields: undefined }],
  [{ active: 'true' }, { active: true }],
  [{ active: 'false' }, { active: false }],
  [
    { page: '3', size: '100' },
    { page: 3, size: 100 },
  ],
])('%j is read as %j', (query, read) => {
  expect(parse(Query, query)).toEqual(read);
});

const whole = 'must be a whole number from 1';
test.each(rows`
  text=   | text is invalid: expected a text that is not empty, received ""
  list=   | list is invalid: expected a list that is not empty, received []
  list=,  | list is invalid: expected a list that is not empty, received []
  ${['TRUE', '', 'true,false', '1'].map((word) => `active=${word} | active must be true or false, received "${word}"`).join('\n')}
  ${['0', '-1', '1.5', '1e3', '', '1,2', '9007199254740992'].map((text) => `page=${text} | page ${whole}, received "${text}"`).join('\n')}
  size=101  | size ${whole} to 100, received "101"
  size=0    | size ${whole} to 100, received "0"
  limit=ten | limit ${whole} to 100, received "ten"
`)('%s is refused: %s', (query, message) => {
  expect(() => parse(Query, Object.fromEntries(new URLSearchParams(query)))).toThrow(message);
});

test.each([
  [{}, { page: 1, size: 20 }],
  [{ limit: 5 }, { page: 1, size: 5 }],
  [
    { size: 5, page: 2 },
    { page: 2, size: 5 },
  ],
  [
    { size: 5, limit: 5 },
    { page: 1, size: 5 },
  ],
])('page of %j', (query, page) => {
  expect(pageOf(query)).toEqual(page);
});

test('size and limit that differ are refused', () => {
  expect(() => pageOf({ size: 5, limit: 6 })).toThrow('size and limit mean the same and differ');
});

test('a page past the end is empty', () => {
  expect(sliceOf([1, 2, 3], { page: 2, size: 2 })).toEqual([3]);
  expect(sliceOf([1, 2, 3], { page: Number.MAX_SAFE_INTEGER, size: 100 })).toEqual([]);
});
