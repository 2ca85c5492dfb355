import { expect, test } from 'vitest';
import { type FailureFacts, type FailureKind, PlatformFailure } from '../../../lib/platform/failure.ts';
import { atPlatform, refusalOf } from '../../../lib/platform/refusals.ts';

test.each<[string, FailureKind, FailureFacts, number, string]>([
  ['unreachable', 'not_sent', {}, 502, 'platform_unreachable'],
  ['time-out', 'ambiguous', {}, 502, 'platform_unreachable'],
  ['HTTP 500', 'ambiguous', { httpStatus: 500, code: 131000 }, 502, 'platform_unreachable'],
  ['our token expired', 'refused', { httpStatus: 401, code: 190 }, 502, 'platform_unreachable'],
  ['our permission is missing', 'refused', { httpStatus: 403, code: 200 }, 502, 'platform_unreachable'],
  ['a fault of theirs in a 400', 'refused', { httpStatus: 400, code: 1 }, 502, 'platform_unreachable'],
  ['content', 'refused', { httpStatus: 400, code: 100, subcode: 2388293 }, 400, 'platform_refused'],
  ['an unknown code', 'refused', { httpStatus: 400, code: 999999 }, 400, 'platform_refused'],
  ['throttled by code', 'refused', { httpStatus: 400, code: 80008 }, 429, 'platform_rate_limited'],
  ['throttled by status', 'refused', { httpStatus: 429 }, 429, 'platform_rate_limited'],
])('%s', (_, kind, facts, status, code) => {
  expect(refusalOf(new PlatformFailure(kind, facts))).toMatchObject({ status, code });
});

test('a refusal of the content carries the words and the code of the platform', () => {
  const facts = { httpStatus: 400, code: 100, userMessage: 'Too many variables for the length.' };
  expect(refusalOf(new PlatformFailure('refused', facts))).toMatchObject({
    message: 'Too many variables for the length.',
    details: { platformCode: 100 },
  });
});

test.each([
  [undefined, '60'],
  [7.2, '8'],
])('Retry-After: %s becomes %s', (retryAfterSeconds, header) => {
  const facts = { httpStatus: 429, retryAfterSeconds };
  expect(refusalOf(new PlatformFailure('refused', facts)).details.headers).toEqual({ 'retry-after': header });
});

test('only failures of the platform become refusals', async () => {
  const bug = new TypeError('a bug');
  await expect(atPlatform(() => Promise.reject(bug))).rejects.toBe(bug);
  await expect(atPlatform(() => Promise.reject(new PlatformFailure('not_sent')))).rejects.toMatchObject({
    code: 'platform_unreachable',
  });
  expect(await atPlatform(async () => 7)).toBe(7);
});
