import { expect, test } from 'vitest';
import { nameOf } from '../../../lib/observe/name-of.ts';

test('an error is named, its message is not; anything else is named by its type', () => {
  expect(nameOf(new TypeError('recipient +5491100000001'))).toBe('TypeError');
  expect(nameOf('recipient +5491100000001')).toBe('string');
  expect(nameOf(undefined)).toBe('undefined');
});
