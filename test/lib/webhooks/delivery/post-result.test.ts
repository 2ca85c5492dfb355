import { expect, test } from 'vitest';
import { postResultOf } from '../../../../lib/webhooks/delivery/post-result.ts';

const failed = (status: number, overloaded: boolean) => ({ kind: 'failed', code: String(status), overloaded });
const cases: readonly (readonly [number, object])[] = [
  ...[200, 204, 299].map((status) => [status, { kind: 'delivered' }] as const),
  [410, { kind: 'gone' }],
  ...[0, 101, 300, 301, 302, 304, 307, 308, 400, 401, 404, 409, 500, 503].map(
    (status) => [status, failed(status, false)] as const,
  ),
  ...[429, 502, 504].map((status) => [status, failed(status, true)] as const),
];
test.each(cases)('%i', (status, verdict) => {
  expect(postResultOf({ status }, 0)).toEqual(verdict);
});

test('no answer is a failure', () => {
  expect(postResultOf({ fault: 'timeout' }, 0)).toEqual({ kind: 'failed', code: 'timeout', overloaded: false });
});

test('a failure carries the wait that was asked for', () => {
  const verdict = { kind: 'failed', code: '503', overloaded: false };
  expect(postResultOf({ status: 503, retryAfter: '7' }, 0)).toEqual({ ...verdict, retryAfterMs: 7_000 });
  expect(postResultOf({ status: 503, retryAfter: 'never' }, 0)).toEqual(verdict);
});
