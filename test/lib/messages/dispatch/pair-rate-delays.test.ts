import { expect, test } from 'vitest';
import { pairRateDelaysMs } from '../../../../lib/messages/dispatch/pair-rate-delays.ts';

const times = (count: number, ...to: readonly string[]) =>
  Array.from({ length: count }, () => to.map((each) => ({ to: each }))).flat();

test.each<readonly [string, readonly string[]]>([
  ['a number, with a plus and without', ['5491155550001', '+5491155550001']],
  ['a number, in both spellings (D25)', ['5215512345678', '+525512345678']],
  ['a user id', ['US.1aB', 'US.1aB']],
  ['a parent id', ['US.ENT.1', 'US.ENT.1']],
])('%s waits from the 46th message on, 6 s more for each (131056)', (_, to) => {
  expect([...pairRateDelaysMs(times(24, ...to))]).toEqual([
    [45, 6_000],
    [46, 12_000],
    [47, 18_000],
  ]);
});

test('those who are told apart wait each for themselves', () => {
  expect(pairRateDelaysMs(times(45, 'US.1aB', 'US.1ab', 'US.ENT.1aB', '5491155550001')).size).toBe(0);
});

test('the 46th message waits where it is the only one that does', () => {
  expect([...pairRateDelaysMs(times(46, 'US.1aB'))]).toEqual([[45, 6_000]]);
});
