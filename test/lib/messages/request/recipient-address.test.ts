import { expect, test } from 'vitest';
import {
  addressForm,
  addressHint,
  canonicalAddress,
  destinationOf,
} from '../../../../lib/messages/request/recipient-address.ts';

test.each([
  ['5491155550001', true, 'AR'],
  ['+5491155550001', true, 'AR'],
  ['+14165550001', true, 'CA'],
  ['38344123456', true, 'XK'],
  ['99912345678', true, undefined],
  ['12345678', true, 'US'],
  ['AR.1', true, 'AR'],
  ['AR.ENT.1', true, 'AR'],
  ['AR.ENT', true, 'AR'],
  [`AR.${'Z'.repeat(128)}`, true, 'AR'],
  [`AR.ENT.${'Z'.repeat(128)}`, true, 'AR'],
  ['ZZ.1', true, 'ZZ'],
  [`AR.${'Z'.repeat(129)}`, false],
  ['ar.1', false],
  ['ARG.1', false],
  ['AR.', false],
  ['AR.ENT.', false],
  ['AR.ent.1', false],
  ['AR.1-2', false],
  ['AR.1\n', false],
  [' AR.1', false],
  ['1234567', false],
  ['+1234567890123456', false],
  ['0541155550001', false],
  ['++5491155550001', false],
])('%j: somebody is meant: %s, in %s', (to, isOne, country?: string) => {
  expect(addressForm.test(to)).toBe(isOne);
  if (isOne)
    expect(destinationOf(to)).toEqual({ digits: /^[+\d]+$/.test(to) ? canonicalAddress(to) : undefined, country });
});

test('a number is one with a plus and without; an id stays as it is', () => {
  expect([canonicalAddress('+5491155550001'), canonicalAddress('5491155550001')]).toEqual([
    '5491155550001',
    '5491155550001',
  ]);
  expect(canonicalAddress('AR.ENT.1aB')).toBe('AR.ENT.1aB');
});

test.each([
  ['0541155550001', ': it begins with a zero, and no country code does'],
  ['+00541155550001', ': it begins with a zero, and no country code does'],
  ['ar.1aB', ': its letter case is wrong, a user id begins with AR.'],
  ['AR.ent.1', ': its letter case is wrong, a user id begins with AR.ENT.'],
  ['\u202a+5491155550001\u202c', ': it has an invisible character, U+202A'],
  ['549\u00a01155550001', ': it has an invisible character, U+00A0'],
  ['5491155550001\u200b', ': it has an invisible character, U+200B'],
  ['5491155550001\n', ': it has an invisible character, U+000A'],
  ['AR.1\u{e0001}', ': it has an invisible character, U+E0001'],
  ['549 11 5555', ''],
  ['AR.1-2', ''],
  ['1234567', ''],
])('%j is refused, and what is wrong with it is said where it looks right: %s (D24)', (text, hint) => {
  expect(addressForm.test(text)).toBe(false);
  expect(addressHint(text)).toBe(hint);
});
