import { expect, test } from 'vitest';
import { prefersType } from '../../../lib/http/content-negotiation.ts';

test.each([
  ['text/csv', true],
  ['TEXT/CSV; charset=utf-8', true],
  ['text/csv, application/json', true],
  ['text/csv;q=0.9, */*;q=0.8', true],
  ['application/json;q=0.5, text/csv', true],
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['text/*', false],
  ['application/json', false],
  ['application/json, text/csv', false],
  ['text/csv;q=0.5, application/json', false],
  ['text/csv;q=0', false],
  ['text/csv;q=x', false],
  ['text/html,application/xhtml+xml,*/*;q=0.8', false],
  [',;q=1,,', false],
])('Accept: %s asks for CSV: %s (D59)', (accept, expected) => {
  expect(prefersType('text/csv', accept)).toBe(expected);
});
