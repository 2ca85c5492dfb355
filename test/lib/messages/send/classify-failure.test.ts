import { describe, expect, test } from 'vitest';
import { classifyFailure } from '../../../../lib/messages/send/classify-failure.ts';
import { type FailureFacts, type FailureKind, PlatformFailure } from '../../../../lib/platform/failure.ts';

const rows: readonly (readonly [FailureKind, FailureFacts, string])[] = [
  ['not_sent', {}, 'retry unreachable'],
  ['refused', { httpStatus: 400, code: 131056 }, 'retry pair'],
  ['refused', { httpStatus: 400, code: 130429 }, 'retry throughput'],
  ['refused', { httpStatus: 429 }, 'retry throughput'],
  ['refused', { httpStatus: 429, code: 4 }, 'retry quota'],
  ['refused', { httpStatus: 400, code: 80007 }, 'retry quota'],
  ['refused', { httpStatus: 400, code: 80008 }, 'retry quota'],
  ['refused', { httpStatus: 400, code: 131048 }, 'retry restriction'],
  ['refused', { httpStatus: 400, code: 134101 }, 'retry syncing'],
  ['ambiguous', { httpStatus: 500, code: 131057 }, 'retry maintenance'],
  ['refused', { httpStatus: 400, code: 131057 }, 'retry maintenance'],
  ['refused', { httpStatus: 401, code: 190 }, 'retry credential'],
  ['refused', { httpStatus: 401, code: 0 }, 'retry credential'],
  ['refused', { httpStatus: 403, code: 10 }, 'retry credential'],
  ['refused', { httpStatus: 403, code: 200 }, 'retry credential'],
  ['refused', { httpStatus: 403, code: 131005 }, 'retry credential'],
  ['refused', { httpStatus: 400, code: 131026 }, 'failed 131026'],
  ['refused', { httpStatus: 400, code: 131049 }, 'failed 131049'],
  ['refused', { httpStatus: 400, code: 131050 }, 'failed 131050'],
  ['refused', { httpStatus: 404, code: 132001 }, 'failed 132001'],
  ['refused', { httpStatus: 400, code: 100 }, 'failed 100'],
  ['refused', { httpStatus: 400, code: 999_999 }, 'failed 999999'],
  ['refused', { httpStatus: 400, code: 1 }, 'unknown 1'],
  ['refused', { httpStatus: 400, code: 131000 }, 'unknown 131000'],
  ['ambiguous', {}, 'unknown no_answer'],
  ['ambiguous', { httpStatus: 502 }, 'unknown http_502'],
  ['ambiguous', { httpStatus: 200 }, 'unknown http_200'],
  ['ambiguous', { httpStatus: 500, code: 131000 }, 'unknown 131000'],
  ['ambiguous', { httpStatus: 503, code: 2 }, 'unknown 2'],
  ['ambiguous', { httpStatus: 500, code: 130429 }, 'unknown 130429'],
  ['ambiguous', { httpStatus: 500, code: 3 }, 'unknown 3'],
  ['ambiguous', { httpStatus: 500, code: 131045 }, 'failed 131045'],
  ['ambiguous', { httpStatus: 502, code: 131045 }, 'unknown 131045'],
];

test.each(rows)('%s %j: %s', (kind, facts, expected) => {
  const verdict = classifyFailure(new PlatformFailure(kind, facts));
  const { settlement } = verdict;
  expect(verdict.kind === 'retry' ? `retry ${verdict.pace}` : `${settlement.state} ${settlement.code}`).toBe(expected);
});

const ofPersons = [130403, 130472, 130497, 131021, 131026, 131049, 131050, 131062, 137000];

describe.each(ofPersons)('%i is about a person, and never tried again by itself (D46)', (code) => {
  test.each([400, 401, 403, 404, 429])('at HTTP %i it is final', (httpStatus) => {
    const verdict = classifyFailure(new PlatformFailure('refused', { httpStatus, code, retryAfterSeconds: 60 }));
    expect(verdict).toMatchObject({ kind: 'settle', settlement: { state: 'failed', code: String(code) } });
  });

  test.each([500, 502, 503])('at HTTP %i it is unknown', (httpStatus) => {
    const verdict = classifyFailure(new PlatformFailure('ambiguous', { httpStatus, code, retryAfterSeconds: 60 }));
    expect(verdict).toEqual({ kind: 'settle', settlement: { state: 'unknown', code: String(code) } });
  });
});

test.each<[FailureKind, FailureFacts, number | undefined]>([
  ['refused', { httpStatus: 400, code: 132015 }, 132015],
  ['refused', { httpStatus: 400 }, undefined],
  ['refused', { httpStatus: 400, code: 131000 }, undefined],
  ['ambiguous', { httpStatus: 500, code: 132015 }, undefined],
  ['ambiguous', { httpStatus: 500, code: 131045 }, 131045],
  ['refused', { httpStatus: 400, code: 131048 }, 131048],
])('%s %j proves by this code that nothing was taken: %s', (kind, facts, refusedCode) => {
  expect(classifyFailure(new PlatformFailure(kind, facts)).refused?.code).toBe(refusedCode);
});

test('an error of our own after the claim counts as unknown', () => {
  expect(classifyFailure(new TypeError('bug'))).toEqual({
    kind: 'settle',
    settlement: { state: 'unknown', code: 'error' },
  });
});

test('the platform text becomes the reason, cut at 1,000 characters', () => {
  const { settlement } = classifyFailure(
    new PlatformFailure('refused', { code: 131026, userMessage: 'not reachable' }),
  );
  expect(settlement.reason).toBe('not reachable');
  const long = classifyFailure(new PlatformFailure('refused', { code: 131026, userMessage: 'x'.repeat(500_000) }));
  expect(long.settlement.reason).toHaveLength(1_000);
});

test('what the platform says of the next try is kept, and nothing is made up', () => {
  const asked = { httpStatus: 429, retryAfterSeconds: 77 };
  expect(classifyFailure(new PlatformFailure('refused', asked))).toMatchObject({
    kind: 'retry',
    retryAfterSeconds: 77,
  });
  expect(classifyFailure(new PlatformFailure('refused', { httpStatus: 429 }))).not.toMatchObject({
    retryAfterSeconds: expect.anything(),
  });
});
