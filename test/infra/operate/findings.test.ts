import fc from 'fast-check';
import { expect, test } from 'vitest';
import { closingCount, type Finding, findingLines, widthColumns } from '../../../infra/operate/stage/findings.ts';

const finding: fc.Arbitrary<Finding> = fc.record({
  state: fc.constantFrom('good', 'bad', 'skipped'),
  text: fc
    .array(fc.stringMatching(/^[a-z{}":]{1,250}$/), { minLength: 1, maxLength: 30 })
    .map((words) => words.join(' ')),
});

test('a finding is one mark and all of its text, on lines that fit', () => {
  fc.assert(
    fc.property(finding, (given) => {
      const lines = findingLines(given).split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(widthColumns);
      expect(lines.map((line) => line.slice(0, 2))).toEqual(
        lines.map((_, at) => (at === 0 ? findingLines({ ...given, text: 'x' }).slice(0, 2) : '  ')),
      );
      const told = lines.map((line) => line.slice(2)).join('');
      expect(told.replaceAll(' ', '')).toBe(given.text.replaceAll(' ', ''));
    }),
  );
});

test('a line of exactly the width is not broken, one more column is', () => {
  const word = 'x'.repeat(widthColumns - 2);
  expect(findingLines({ state: 'good', text: word })).toBe(`✓ ${word}`);
  expect(findingLines({ state: 'bad', text: `${word}y` })).toBe(`✗ ${word}\n  y`);
});

test('the closing count names what was skipped only when something was', () => {
  const of = (...states: Finding['state'][]) => closingCount(states.map((state) => ({ state, text: '' })));
  expect(of('good', 'bad', 'good')).toBe('2 good, 1 bad');
  expect(of('skipped')).toBe('0 good, 0 bad, 1 skipped');
});
