import { expect, test } from 'vitest';
import { publicHttpsUrlFault } from '../../../lib/http/public-url.ts';
import cases from './public-url-cases.json' with { type: 'json' };

test.each(cases as [string, string, string][])('%s: %s %s', (url, verdict) => {
  expect(publicHttpsUrlFault(url) === undefined ? 'accept' : 'reject').toBe(verdict);
});

test.each([
  ['https://example.com/a b.png', 'must not contain spaces, control characters or backslashes'],
  ['http://example.com/a.png', 'must use https'],
  ['https://user@example.com/', 'must not carry credentials'],
  ['https://localhost/', 'must name a public host'],
  ['https://192.168.1.10/a.png', 'must name a public host'],
  ['https://[2606:4700::1111]/', undefined],
  ['not a url', 'must not contain spaces, control characters or backslashes'],
  ['example.com', 'must be an absolute URL'],
  [`https://example.com/${'a'.repeat(2_048)}`, 'must have at most 2048 characters'],
])('%s says %s', (url, fault) => {
  expect(publicHttpsUrlFault(url)).toBe(fault);
});
