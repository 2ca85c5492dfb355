import { expect, test } from 'vitest';
import { proofsAsked } from '../proof/asked.ts';

const ministack = ['node', 'test/proof/ministack.ts'];
const gameDays = ['node', 'test/game-days/run.ts'];
const bench = ['node', 'test/bench/run.ts'];

test.each([
  ['ministack', [ministack]],
  ['ministack --from HEAD~3 --recipients 300', [[...ministack, '--from', 'HEAD~3', '--recipients', '300']]],
  ['bench ministack --from bench', [[...ministack, '--from', 'bench'], bench]],
  ['game-days token-revoked', [[...gameDays, 'token-revoked']]],
  ['bench game-days token-revoked dead-letters', [bench, [...gameDays, 'token-revoked', 'dead-letters']]],
])('npm run proof -- %s', (words, steps) => {
  expect(proofsAsked(words.split(' '))).toEqual(steps);
});

test('without a word all of them run', () => {
  expect(proofsAsked([])).toHaveLength(8);
});

test.each([
  ['moonstack', 'no proof is called moonstack: there are generators, strangers, ministack,'],
  ['constructor', 'no proof is called constructor: '],
  ['--from HEAD', '--from stands behind no proof'],
  ['generators --from HEAD', 'generators takes no options'],
])('npm run proof -- %s is refused', (words, message) => {
  expect(() => proofsAsked(words.split(' '))).toThrow(message);
});
