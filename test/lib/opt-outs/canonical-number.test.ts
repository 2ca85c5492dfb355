import { expect, test } from 'vitest';
import { canonicalNumber, numberSpellings } from '../../../lib/opt-outs/canonical-number.ts';
import { personNames } from '../../../lib/opt-outs/person-name.ts';

test.each([
  ['Mexico', '5215512345678', '525512345678'],
  ['Argentina', '5491155550001', '541155550001'],
  ['Brazil, of the old numbers', '5511987654321', '551187654321'],
])('a number of %s has one spelling, and its person one name (D55)', (_, one, other) => {
  const nameOf = personNames(new Uint8Array(32));
  expect([one, `+${one}`, other, `+${other}`].map(canonicalNumber)).toEqual(Array(4).fill(canonicalNumber(other)));
  expect(new Set([one, `+${one}`, other].map(nameOf)).size).toBe(1);
  for (const each of [one, `+${one}`, other, `+${other}`]) expect(numberSpellings(each)).toEqual([other, one]);
});

test.each([
  ['Brazil, where the number without the 9 is a fixed line', '5511951234567'],
  ['Brazil, too short', '55119876543'],
  ['Brazil, with a 0 in its area', '5510987654321'],
  ['Mexico, too short', '521551234567'],
  ['Argentina, too long', '54911555500012'],
  ['another country that begins alike', '15215551234'],
  ['a user id', 'MX.5215512345678'],
  ['a parent id', 'AR.ENT.5491155550001'],
])('anything else stays as it is: %s', (_, recipient) => {
  expect(canonicalNumber(recipient)).toBe(recipient);
  expect(numberSpellings(recipient).map(canonicalNumber)).toEqual(numberSpellings(recipient).map(() => recipient));
});
