import { expect, test } from 'vitest';
import { gameDays } from '../game-days/all.ts';
import { bookCommand, bookMeaning, wordsOf } from '../proof/trial/run-book.ts';
import { documentOf, namesIn, tableRows } from './documents.ts';

test('the README lists the game days that there are', () => {
  const rows = tableRows(documentOf('test/README.md'), '| Game day |');
  expect(rows.flatMap(([name = '']) => namesIn(name))).toEqual(gameDays.map(({ name }) => name));
});

test.each([
  ['One token', 'infra/ops credential', 'infra/ops credential 200000000000001 --token - --yes'],
  ['A number that is to be slower', 'infra/ops number DID', 'infra/ops number DID'],
  ['A number that is to be slower', 'infra/ops number DID --limit 20', 'infra/ops number DID --limit 20 --for 4h'],
  ['Dead letters', 'infra/ops redrive QUEUE', 'infra/ops redrive QUEUE'],
  ['Dead letters', 'infra/ops redrive urgent --stage prod --yes', 'infra/ops redrive urgent --yes'],
])('a command of the run book, from "%s": %s', (section, beginning, command) => {
  expect(bookCommand(section, beginning)).toBe(command);
});

test('what the run book does not say breaks the game day', () => {
  expect(() => bookCommand('One token', 'infra/ops redrive')).toThrow(
    'the run book does not say `infra/ops redrive ...`',
  );
  expect(() => bookCommand('No such section', 'npm')).toThrow('the run book has no section "No such section"');
  expect(() => bookMeaning('no.such_event')).toThrow('the run book does not explain no.such_event');
  expect(bookMeaning('send.credential_refused')).toContain('the platform refuses our token');
});

test('words of a command', () => {
  expect(wordsOf("infra/ops holds --end 'number 1 of waba 2'")).toEqual([
    'infra/ops',
    'holds',
    '--end',
    'number 1 of waba 2',
  ]);
});
