import { expect, test } from 'vitest';
import { gameDays } from '../game-days/all.ts';
import { bookCommand, bookMeaning, wordsOf } from '../game-days/run-book.ts';
import { documentOf, namesIn, tableRows } from './documents.ts';

test('the README lists the game days that there are', () => {
  const rows = tableRows(documentOf('test/README.md'), '| Game day |');
  expect(rows.flatMap(([name = '']) => namesIn(name))).toEqual(gameDays.map(({ name }) => name));
});

test.each([
  ['One token', 'npm run credential --', 'npm run credential -- 200000000000001 --token -'],
  ['A number that is to be slower', 'npm run number -- DID', 'npm run number -- DID'],
  ['A number that is to be slower', 'npm run number -- DID --limit 20', 'npm run number -- DID --limit 20 --for 4h'],
  ['Dead letters', 'npm run redrive -- QUEUE', 'npm run redrive -- QUEUE'],
  ['Dead letters', 'npm run redrive -- dispatch --stage prod --yes', 'npm run redrive -- dispatch --yes'],
])('a command of the run book, from "%s": %s', (section, beginning, command) => {
  expect(bookCommand(section, beginning)).toBe(command);
});

test('what the run book does not say breaks the game day', () => {
  expect(() => bookCommand('One token', 'npm run redrive')).toThrow('the run book does not say `npm run redrive ...`');
  expect(() => bookCommand('No such section', 'npm')).toThrow('the run book has no section "No such section"');
  expect(() => bookMeaning('no.such_event')).toThrow('the run book does not explain no.such_event');
  expect(bookMeaning('dispatch.credential_refused')).toContain('the platform refuses our token');
});

test('words of a command', () => {
  expect(wordsOf("npm run outcomes -- --held --end 'number 1 of waba 2'")).toEqual([
    'npm',
    'run',
    'outcomes',
    '--',
    '--held',
    '--end',
    'number 1 of waba 2',
  ]);
});
