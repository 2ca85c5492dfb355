import { expect, it } from 'vitest';
import { variablesIn } from './variables-read.ts';

const readers = `
  function environmentVariable(name) { const value = process.env[name]; return value; }
  const secretText = (client, variable) => environmentVariable(variable);
  function secretValue(variable, parse) { return () => parse(secretText({}, variable)); }`;
const read = (code: string) => [...variablesIn(readers + code)].toSorted();

it('finds what the environment is asked for, itself and by a name that is handed on', () => {
  expect(read("process.env['A']; export const b = process.env.B;")).toEqual(['A', 'B']);
  expect(read("export const handler = () => [environmentVariable('C'), secretValue('D', String)];")).toEqual([
    'C',
    'D',
  ]);
  expect(read("class Kept { value = secretText('no name', 'E'); }")).toEqual(['E']);
});

it('follows a name to readers that stand behind their callers', () => {
  expect(variablesIn("outer('A'); function outer(n) { inner(n); } function inner(n) { process.env[n]; }")).toEqual(
    new Set(['A']),
  );
});

it('finds nothing in readers without a call, and in names that look like variables', () => {
  expect(read("const kinds = ['A_TABLE']; export const env = { A: kinds };")).toEqual([]);
});

it.each([
  ['a name that is computed', "export const a = (n) => environmentVariable('A_' + n);"],
  ['a name that stands elsewhere', "const table = 'A'; environmentVariable(table);"],
  ['a reader without a name', 'environmentVariable();'],
  ['a reader that is handed on', "['A'].map(environmentVariable);"],
  ['the environment as a whole', 'export const { A } = process.env;'],
])('stops at %s', (_, code) => {
  expect(() => read(code)).toThrow(/whose name is no text|cannot be followed/);
});
