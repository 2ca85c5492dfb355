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

test.each([
  [{ text: '' }, 'text is invalid: expected a text that is not empty, received ""'],
  [{ list: '' }, 'list is invalid: expected a list that is not empty, received []'],
  [{ list: ' ,' }, 'list is invalid: expected a list that is not empty, received []'],
  [{ active: 'TRUE' }, 'active must be true or false, received "TRUE"'],
  [{ active: '' }, 'active must be true or false, received ""'],
  [{ active: 'true,false' }, 'active must be true or false, received "true,false"'],
  [{ active: '1' }, 'active must be true or false, received "1"'],
  [{ page: '0' }, 'page must be a whole number from 1, received "0"'],
  [{ page: '-1' }, 'page must be a whole number from 1, received "-1"'],
  [{ page: '1.5' }, 'page must be a whole number from 1, received "1.5"'],
  [{ page: '1e3' }, 'page must be a whole number from 1, received "1e3"'],
  [{ page: '' }, 'page must be a whole number from 1, received ""'],
  [{ page: '1,2' }, 'page must be a whole number from 1, received "1,2"'],
  [{ page: '9007199254740992' }, 'page must be a whole number from 1, received "9007199254740992"'],
  [{ page: '9007199254740993' }, 'page must be a whole number from 1, received "9007199254740993"'],
  [{ size: '101' }, 'size must be a whole number from 1 to 100, received "101"'],
  [{ size: '0' }, 'size must be a whole number from 1 to 100, received "0"'],
  [{ limit: 'ten' }, 'limit must be a whole number from 1 to 100, received "ten"'],
])('%j is refused: %s', (query, message) => {
  expect(() => parse(Query, query)).toThrow(message);
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
