import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CsvLine, csvText } from '../../../lib/http/csv.ts';
import { readCsv } from '../../support/read-csv.ts';

test('cells are quoted where they have to be, and only there', () => {
  const line = ['plain', 'a,b', 'say "no"', 'two\r\nlines', '', undefined, 0];
  expect(csvText([line])).toBe('plain,"a,b","say ""no""","two\r\nlines",,,0\r\n');
});

test.each([
  ['=1+2', "'=1+2"],
  ['+SUM(A1)', "'+SUM(A1)"],
  ['-2', "'-2"],
  ['@cmd', "'@cmd"],
  ['\t=1', "'\t=1"],
  ['\n=1', "'\n=1"],
  ['＝1+2', "'＝1+2"],
  ['＠cmd', "'＠cmd"],
  ['+5491155550001', '+5491155550001'],
  ['+5491155550001 =1', "'+5491155550001 =1"],
  ['a=1', 'a=1'],
])('no cell is a formula: %j is written %j (D59, R58)', (given, written) => {
  expect(readCsv(csvText([[given]]))).toEqual([[written]]);
});

test('whatever the cells are, a reader of CSV reads them, and none of them is a formula', () => {
  const cell = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('=', '"', ',', '\r\n', '\n', '+1', '-1', '＝1'));
  // A row of one empty cell is an empty line, which readers skip; so rows have two cells or more.
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { maxLength: 5 });
  fc.assert(
    fc.property(table, (lines) => {
      const read = readCsv(csvText(lines as CsvLine[]));
      const bare = (text: string) => text.replace(/^'(?=[=+\-@\t\r\n＝＋－＠])/, '');
      expect(read.map((line) => line.map(bare))).toEqual(lines.map((line) => line.map(bare)));
      for (const text of read.flat()) expect(text).not.toMatch(/^(?:[=\-@\t\r\n＝＋－＠]|\+(?!\d+$))/);
    }),
  );
});
