import { describe, expect, test } from 'vitest';
import {
  afterAnsweredRun,
  afterSilentRun,
  answerIn,
  type Breaker,
  closed,
  endsInSilence,
  heldBackSeconds,
  leased,
  opened,
  stillOpen,
  unknownBreaker,
} from '../../../../lib/messages/dispatch/breaker.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';

const nowMs = 1_800_000_000_000;

test.each([
  ['a time-out', new PlatformFailure('ambiguous'), 'silent'],
  ['HTTP 502', new PlatformFailure('ambiguous', { httpStatus: 502 }), 'silent'],
  [
    'HTTP 500 with a code that says nothing',
    new PlatformFailure('ambiguous', { httpStatus: 500, code: 131000 }),
    'silent',
  ],
  ['a refused connection', new PlatformFailure('not_sent'), 'silent'],
  ['a refusal', new PlatformFailure('refused', { code: 131026 }), 'answered'],
  ['a refused token', new PlatformFailure('refused', { httpStatus: 401, code: 190 }), 'answered'],
  ['throttling', new PlatformFailure('refused', { httpStatus: 429 }), 'answered'],
  [
    'a number in maintenance, at HTTP 500',
    new PlatformFailure('ambiguous', { httpStatus: 500, code: 131057 }),
    'answered',
  ],
  ['an error of our own', new Error('no secret'), 'unclear'],
])('%s', (_, error, answer) => {
  expect(answerIn(error)).toBe(answer);
});

test.each([
  ['no call', [], false],
  ['one that was not answered', ['silent'], true],
  ['answered at last', ['silent', 'silent', 'answered'], false],
  ['answered at first, then no more', ['answered', 'silent'], true],
  ['that never got so far', ['unclear'], false],
  ['after an answer, one that never got so far', ['answered', 'unclear'], false],
] as const)('calls of a run that end in silence: %s', (_, answers, silent) => {
  const calls = answers.map((answer, at) => ({ atMs: nowMs + at, answer }));
  expect(endsInSilence(calls)).toBe(silent);
  expect(endsInSilence(calls.toReversed())).toBe(silent);
});

test('of two calls at once one was answered: no silence', () => {
  expect(
    endsInSilence([
      { atMs: nowMs, answer: 'silent' },
      { atMs: nowMs, answer: 'answered' },
    ]),
  ).toBe(false);
});

test('asked for after 5, 10, 20, and every 30 seconds; an answer closes it for everybody', () => {
  let breaker = opened(nowMs)(unknownBreaker) as Breaker;
  let atMs = nowMs;
  const waits: number[] = [];
  for (let probe = 0; probe < 6; probe += 1) {
    waits.push(((breaker.open?.probeAtMs ?? 0) - atMs) / 1_000);
    atMs = breaker.open?.probeAtMs ?? 0;
    breaker = stillOpen(atMs)(leased(atMs)(breaker) as Breaker) as Breaker;
  }
  expect(waits).toEqual([5, 10, 20, 30, 30, 30]);
  expect(breaker.open?.sinceMs).toBe(nowMs);
  expect(closed(breaker)).toEqual(unknownBreaker);
});

test('who finds it open does not open it again, nor put off the read', () => {
  const breaker = opened(nowMs)(unknownBreaker) as Breaker;
  expect(opened(nowMs + 1)(breaker)).toBeUndefined();
  expect(afterSilentRun(nowMs + 1)(breaker)).toBeUndefined();
  expect(afterAnsweredRun({ ...breaker, silentRuns: 2 })).toBeUndefined();
});

test('one at a time may ask, when it is time, until its lease ends', () => {
  const breaker = opened(nowMs)(unknownBreaker) as Breaker;
  expect(leased(nowMs + 4_999)(breaker)).toBeUndefined();
  const held = leased(nowMs + 5_000)(breaker) as Breaker;
  expect(leased(nowMs + 12_999)(held)).toBeUndefined();
  expect(leased(nowMs + 13_000)(held)).toBeDefined();
  expect(leased(nowMs)(unknownBreaker)).toBeUndefined();
  // Somebody else has heard an answer meanwhile.
  expect(stillOpen(nowMs)(unknownBreaker)).toBeUndefined();
  expect(closed(unknownBreaker)).toBeUndefined();
});

describe('messages that nobody answers, while reads are answered', () => {
  const silentRuns = (times: readonly number[], from: Breaker = unknownBreaker) =>
    times.reduce<Breaker>((breaker, atMs) => afterSilentRun(atMs)(breaker) ?? breaker, from);

  test('the third run in a row opens it; each one after that for longer', () => {
    expect(silentRuns([nowMs, nowMs + 1]).open).toBeUndefined();
    let breaker = silentRuns([nowMs, nowMs + 1, nowMs + 2]);
    const waits = [0, 1, 2, 3, 4].map(() => {
      const { sinceMs = 0, probeAtMs = 0 } = breaker.open ?? {};
      breaker = silentRuns([probeAtMs], closed(breaker));
      return (probeAtMs - sinceMs) / 1_000;
    });
    expect(waits).toEqual([5, 10, 20, 30, 30]);
  });

  test('a run with an answer between them breaks the row, so does time', () => {
    const two = silentRuns([nowMs, nowMs + 1]);
    expect(silentRuns([nowMs + 2, nowMs + 3], afterAnsweredRun(two)).open).toBeUndefined();
    expect(silentRuns([nowMs + 300_001], two)).toMatchObject({ silentRuns: 1 });
    expect(afterAnsweredRun(unknownBreaker)).toBeUndefined();
  });
});

test('messages come back after the read, a little apart', () => {
  const open = { sinceMs: nowMs, probeAtMs: nowMs + 5_000, failedProbes: 0 };
  expect([0, 0.5, 0.999].map((random) => heldBackSeconds(open, nowMs + 100, random))).toEqual([5, 7, 9]);
  expect(heldBackSeconds(open, nowMs + 60_000, 0)).toBe(0);
});
