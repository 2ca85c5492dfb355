import * as v from 'valibot';
import { expect, test } from 'vitest';
import { boundedList, closedObject, nothingBut, openObject } from '../../../lib/http/closed-object.ts';
import { parse } from '../../../lib/http/parse.ts';
import { refused } from '../../support/refused.ts';

const Schema = closedObject({
  name: v.pipe(v.string(), v.toUpperCase()),
  inner: v.optional(closedObject({ id: v.number() })),
});
const faultsOf = (text: string) => refused(() => parse(Schema, JSON.parse(text))).details.errors;

test('what is known is parsed, and what is absent stays absent', () => {
  expect(parse(Schema, { name: 'a', inner: { id: 1 } })).toEqual({ name: 'A', inner: { id: 1 } });
  expect(Object.keys(parse(Schema, { name: 'a' }))).toEqual(['name']);
});

test.each(['__proto__', 'constructor', 'prototype', 'toString', ''])('%j is an unknown field as any other', (key) => {
  const message = (path: string) => [{ path, message: `unrecognized field: ${path}` }];
  expect(faultsOf(`{"name":"a",${JSON.stringify(key)}:{}}`)).toEqual(message(key));
  expect(faultsOf(`{"name":"a","inner":{"id":1,${JSON.stringify(key)}:{}}}`)).toEqual(message(`inner.${key}`));
});

test('known and unknown faults are listed together, of the unknown the first 20', () => {
  const unknown = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x${index}`, 1]));
  const paths = faultsOf(JSON.stringify({ ...unknown, inner: {} }))?.map(({ path }) => path);
  expect(paths).toEqual(['name', 'inner.id', ...Object.keys(unknown).slice(0, 20)]);
});

test.each(['null', '[]', '"text"', '5'])('%s is no object', (text) => {
  expect(faultsOf(text)).toEqual([{ path: '', message: `must be an object, received ${text}` }]);
});

test('the field that a misspelt one probably means is told, at its level (D6)', () => {
  expect(faultsOf('{"naem":1,"inner":{"idd":1}}')?.map(({ message }) => message)).toEqual([
    'name is required',
    'inner.id is required',
    'unrecognized field: inner.idd; did you mean id?',
    'unrecognized field: naem; did you mean name?',
  ]);
  expect(faultsOf('{"name":"a","Inner":{}}')).toEqual([
    { path: 'Inner', message: 'unrecognized field: Inner; did you mean inner?' },
  ]);
});

test('an object among other kinds of value is as closed', () => {
  const entries = { id: v.string() };
  const Item = v.pipe(v.unknown(), nothingBut(entries), v.union([v.string(), v.object(entries)], 'must be an id'));
  expect(parse(v.array(Item), ['a', { id: 'b' }])).toEqual(['a', { id: 'b' }]);
  const faults = refused(() => parse(v.array(Item), [{ Id: 'a' }, 5, null])).details.errors;
  expect(faults?.map(({ message }) => message)).toEqual([
    'unrecognized field: [0].Id; did you mean id?',
    'must be an id',
    'must be an id',
  ]);
});

test.each([
  ['{"a":{"b":[{"__proto__":{}}]}}', 'forbidden key: __proto__'],
  ['{"constructor":{"prototype":1}}', 'forbidden key: constructor'],
  ['[]', 'must be an object, received []'],
])('an open object takes all keys but those that change what holds them: %s', (text, message) => {
  expect(refused(() => parse(openObject, JSON.parse(text))).message).toBe(message);
});

test('an open object is passed on as it is', () => {
  const given = { constructor: 'x', prototype: { a: [1, null] }, toString: {} };
  expect(parse(openObject, given)).toEqual(given);
});

test('the items of a list that is too long are not looked at', () => {
  const list = new Proxy(Array(4), {
    get: (array, key) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) throw new Error('looked at');
      return Reflect.get(array, key);
    },
  });
  const { message } = refused(() => parse(v.object({ a: boundedList(v.unknown(), 3) }), { a: list }));
  expect(message).toBe('a is invalid: expected at most 3 items, received 4');
});
