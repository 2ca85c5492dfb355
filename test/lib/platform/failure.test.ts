import { expect, test } from 'vitest';
import { PlatformFailure } from '../../../lib/platform/failure.ts';

test.each([
  ['a known code by itself', 'refused', { code: 131026 }, '131026'],
  ['a code of template management by itself', 'refused', { code: 100, subcode: 2388023 }, '100'],
  ['a code of a known range by the range', 'refused', { code: 250 }, '200-299'],
  ['a code that nobody knows with all others', 'refused', { code: 987654321 }, 'other'],
  ['none: no byte left', 'not_sent', {}, 'not_sent'],
  ['none: no usable answer', 'ambiguous', { httpStatus: 502 }, 'ambiguous'],
  ['none: a bare 429', 'refused', { httpStatus: 429 }, 'refused'],
] as const)('is counted under a bounded set of names: %s', (_, kind, facts, name) => {
  expect(new PlatformFailure(kind, facts).metricCode).toBe(name);
});
