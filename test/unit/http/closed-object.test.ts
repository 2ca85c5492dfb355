import * as v from 'valibot';
import { expect, test } from 'vitest';
import { closedObject } from '../../../lib/http/closed-object.ts';
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
  expect(faultsOf(text)).toEqual([{ path: '', message: 'must be an object' }]);
});
