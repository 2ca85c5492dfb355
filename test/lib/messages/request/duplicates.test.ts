import { expect, test } from 'vitest';
import { duplicatesWarning, repeatedWarning, withoutDuplicates } from '../../../../lib/messages/request/duplicates.ts';
import { spelledAs } from '../../../../lib/opt-outs/canonical-number.ts';

test('the same number with the same params is kept once, whether spelled with a plus or not', () => {
  const recipients = [
    { to: '5491155550001', params: { body: ['a'] } },
    { to: '+5491155550001', params: { body: ['a'], buttons: [] } },
    { to: '5491155550001', params: { body: ['b'] } },
    { to: '5491155550002', params: { body: ['a'] } },
    { to: '5491155550001', params: { body: ['a'] } },
  ];
  const { kept, repeats } = withoutDuplicates(recipients);
  expect(kept).toEqual([recipients[0], recipients[2], recipients[3]]);
  expect(repeats).toEqual([
    [1, 0, expect.any(Number)],
    [4, 0],
  ]);
});

test.each([
  ['Mexico', '5215512345678', '525512345678'],
  ['Argentina', '5491155550001', '541155550001'],
  ['Brazil', '5511987654321', '551187654321'],
])(
  'both spellings of a number of %s are one person: one message, to the number as it came first (D25)',
  (_, one, other) => {
    for (const spelled of [
      [one, other],
      [other, `+${one}`],
    ]) {
      const [first = '', second] = spelled;
      const recipients = spelled.map((to) => ({ to, params: { body: ['a'] } }));
      const { kept, repeats } = withoutDuplicates(recipients);
      expect([kept, repeats]).toEqual([recipients.slice(0, 1), [[1, 0, expect.any(Number)]]]);
      // The report shows what the client wrote, and stores no number for it.
      expect(spelledAs(first, repeats[0]?.[2] ?? 9)).toBe(second);
    }
    const others = [one, other].map((to, at) => ({ to, params: { body: [`${at}`] } }));
    expect(withoutDuplicates(others)).toEqual({ kept: others, repeats: [] });
    expect(repeatedWarning(others)).toMatch(/^messages beside another one to the same person.*: 1$/);
  },
);

test('a user id is itself and nothing else: not its letters in another case, not the parent id, not a number (D25)', () => {
  const ids = ['US.1aB', 'US.1ab', 'US.ENT.1aB', 'CA.1aB', '16505551234', 'US.16505551234'];
  const { kept, repeats } = withoutDuplicates([...ids, 'US.1aB', 'US.ENT.1aB'].map((to) => ({ to })));
  expect(kept.map(({ to }) => to)).toEqual(ids);
  expect(repeats).toEqual([
    [6, 0],
    [7, 2],
  ]);
  expect(withoutDuplicates([{ to: 'US.1', params: { body: ['a'] } }, { to: 'US.1' }]).repeats).toEqual([]);
});

test('values are not confused with each other when joined', () => {
  const { repeats } = withoutDuplicates([
    { to: '5491155550001', params: { body: ['a', 'b'] } },
    { to: '5491155550001', params: { body: ['a","b'] } },
    { to: '5491155550001', params: { buttons: ['a', 'b'] } },
    { to: '5491155550001' },
  ]);
  expect(repeats).toEqual([]);
});

test('absent params are empty params', () => {
  const { repeats } = withoutDuplicates([{ to: '5491155550001' }, { to: '5491155550001', params: {} }]);
  expect(repeats).toEqual([[1, 0]]);
});

test('the warning names them, the first 20', () => {
  expect(duplicatesWarning([])).toBeUndefined();
  expect(duplicatesWarning([1, 4])).toBe('duplicate recipients were dropped: recipients[1], recipients[4]');
  expect(duplicatesWarning(Array.from({ length: 25 }, (_, index) => index))).toMatch(/recipients\[19\] and 5 more$/);
});

test('messages that a person gets beside another one are counted', () => {
  const people = ['5491155550001', 'US.1', '5491155550001', '5491155550002', 'US.1', '+541155550001'];
  expect(repeatedWarning(people.slice(0, 2).map((to) => ({ to })))).toBeUndefined();
  expect(repeatedWarning(people.map((to) => ({ to })))).toBe(
    'messages beside another one to the same person, with other params: 3',
  );
});
