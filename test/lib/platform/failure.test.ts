import { expect, test } from 'vitest';
import { PlatformFailure, throttledMetricCodes } from '../../../lib/platform/failure.ts';

test.each([
  ['a known code by itself', 'refused', { code: 131026 }, '131026'],
  ['a code of template management by itself', 'refused', { code: 100, subcode: 2388023 }, '100'],
  ['a code of a known range by the range', 'refused', { code: 250 }, '200-299'],
  ['the first code of the range', 'refused', { code: 200 }, '200-299'],
  ['the last code of the range', 'refused', { code: 299 }, '200-299'],
  ['a code before the range', 'refused', { code: 199 }, 'other'],
  ['a code behind the range', 'refused', { code: 300 }, 'other'],
  ['an unknown code with all others', 'refused', { code: 987654321 }, 'other'],
  ['none: no byte left', 'not_sent', {}, 'not_sent'],
  ['none: no usable answer', 'ambiguous', { httpStatus: 502 }, 'ambiguous'],
  ['none: a bare 429', 'refused', { httpStatus: 429 }, 'throttled'],
  ['429 with a code of something else', 'refused', { httpStatus: 429, code: 132000 }, 'throttled'],
  ['429 with a code about a person by the code', 'refused', { httpStatus: 429, code: 131026 }, '131026'],
  ['429 with an unknown code', 'refused', { httpStatus: 429, code: 987654321 }, 'throttled'],
  ['a code of a throttle by itself', 'refused', { httpStatus: 429, code: 130429 }, '130429'],
] as const)('is counted under a bounded set of names: %s', (_, kind, facts, name) => {
  expect(new PlatformFailure(kind, facts).metricCode).toBe(name);
});

test('the names of throttled calls are those of the throttles, and of a 429 that says nothing else', () => {
  const throttles = [4, 80007, 80008, 130429, 131048, 131056, 133016];
  expect(throttledMetricCodes).toEqual([...throttles.map(String), 'throttled']);
  for (const code of throttles) {
    expect(throttledMetricCodes).toContain(new PlatformFailure('refused', { code }).metricCode);
  }
});

test.each([
  ['a code of a throttle', 'refused', { code: 130429, httpStatus: 400 }, true],
  ['429 with a code of something else', 'refused', { code: 132000, httpStatus: 429 }, true],
  ['429 with a code about a person', 'refused', { code: 131049, httpStatus: 429 }, false],
  ['429 without a code', 'refused', { httpStatus: 429 }, true],
  ['a code of something else', 'refused', { code: 131026, httpStatus: 400 }, false],
  ['an unknown code', 'refused', { code: 987654321, httpStatus: 400 }, false],
  ['neither code nor status', 'refused', {}, false],
  ['a code of a throttle in an answer that is none', 'ambiguous', { code: 130429, httpStatus: 429 }, false],
  ['429 for what was never sent', 'not_sent', { httpStatus: 429 }, false],
] as const)('throttled, so provably not accepted: %s', (_, kind, facts, throttled) => {
  expect(new PlatformFailure(kind, facts).throttled).toBe(throttled);
});

test.each([
  ['a code of our credential', 'refused', { code: 190, httpStatus: 400 }, true],
  ['401 with a code of something else', 'refused', { code: 132000, httpStatus: 401 }, true],
  ['401 with a code about a person', 'refused', { code: 131049, httpStatus: 401 }, false],
  ['401 with a code about the country of a person', 'refused', { code: 130497, httpStatus: 401 }, false],
  ['401 without a code', 'refused', { httpStatus: 401 }, true],
  ['a code of something else', 'refused', { code: 131026, httpStatus: 400 }, false],
  ['neither code nor status', 'refused', {}, false],
  ['a code of our credential in an answer that is none', 'ambiguous', { code: 190, httpStatus: 502 }, false],
  ['401 for what was never sent', 'not_sent', { httpStatus: 401 }, false],
] as const)('our credential was refused: %s', (_, kind, facts, credentialRefused) => {
  expect(new PlatformFailure(kind, facts).credentialRefused).toBe(credentialRefused);
});

test('a failure names its kind and code, never the text for people, and keeps its cause', () => {
  const cause = new Error('ECONNREFUSED');
  const failure = new PlatformFailure('refused', { code: 131026, userMessage: 'canary', cause });
  expect(String(failure)).toBe('PlatformFailure: platform call refused, code 131026');
  expect(failure.cause).toBe(cause);
  expect(String(new PlatformFailure('not_sent'))).toBe('PlatformFailure: platform call not_sent');
});
