import { expect, test } from 'vitest';
import { errorName } from '../../../lib/observe/error-name.ts';

test('an error is named, its message is not; anything else is named by its type', () => {
  expect(errorName(new TypeError('recipient +5491100000001'))).toBe('TypeError');
  expect(errorName('recipient +5491100000001')).toBe('string');
  expect(errorName(undefined)).toBe('undefined');
});
