import { expect, test } from 'vitest';
import {
  afterAnswer,
  afterSilentNumber,
  answerIn,
  type Breaker,
  closed,
  heldBackSeconds,
  isSuspected,
  leased,
  opened,
  silenceOf,
  stillOpen,
  unknownBreaker,
} from '../../../../lib/messages/holds/breaker.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';

const nowMs = 1_800_000_000_000;

test.each([
  ['a time-out', new PlatformFailure('ambiguous'), 'silent'],
  ['HTTP 502', new PlatformFailure('ambiguous', { httpStatus: 502 }), 'silent'],
  [
    'HTTP 500 with a code that says nothing',
    new PlatformFailure('ambiguous', { httpStatus: 500, code: 131000 }),
    'open',
  ],
  [
    'a number that is not registered, at HTTP 500',
    new PlatformFailure('ambiguous', { httpStatus: 500, code: 131045 }),
    'clear',
  ],
  ['an answer that is no JSON of the platform', new PlatformFailure('ambiguous', { httpStatus: 200 }), 'silent'],
  ['a refused connection', new PlatformFailure('not_sent'), 'silent'],
  ['a refusal', new PlatformFailure('refused', { code: 131026 }), 'clear'],
  ['a refused token', new PlatformFailure('refused', { httpStatus: 401, code: 190 }), 'clear'],
  ['throttling', new PlatformFailure('refused', { httpStatus: 429 }), 'clear'],
  [
    'a number in maintenance, at HTTP 500',
    new PlatformFailure('ambiguous', { httpStatus: 500, code: 131057 }),
    'clear',
  ],
  [
    'a person who gets no marketing, at HTTP 500',
    new PlatformFailure('ambiguous', { httpStatus: 500, code: 131049 }),
    'none',
  ],
  ['an error of our own', new Error('no secret'), 'none'],
])('%s', (_, error, answer) => {
  expect(answerIn(error)).toBe(answer);
});

test.each([
  ['no call', [], undefined],
  ['one that was not answered', ['silent'], 0],
  ['one whose answer leaves open what became of it', ['silent', 'open'], 1],
  ['answered at last', ['silent', 'open', 'clear'], undefined],
  ['answered at first, then no more', ['clear', 'silent'], 1],
  ['that never got so far', ['none'], undefined],
  ['after an answer, one that never got so far', ['clear', 'none'], undefined],
] as const)('calls of a run that end without a clear answer: %s', (_, answers, last) => {
  const calls = answers.map((answer, at) => ({ atMs: nowMs + at, answer }));
  const found = last === undefined ? undefined : calls[last];
  expect(silenceOf(calls)).toBe(found);
  expect(silenceOf(calls.toReversed())).toBe(found);
});

test('of two calls at once one was answered: no silence', () => {
  const calls = (['silent', 'clear'] as const).map((answer) => ({ atMs: nowMs, answer }));
  expect(silenceOf(calls)).toBeUndefined();
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

test('a worker that finds the breaker open does not open it again, nor put off the read', () => {
  const breaker = opened(nowMs)(unknownBreaker) as Breaker;
  expect(opened(nowMs + 1)(breaker)).toBeUndefined();
  const silent = afterSilentNumber('2', nowMs + 2)(afterSilentNumber('1', nowMs + 1)(breaker) as Breaker);
  expect(silent?.open).toEqual(breaker.open);
});

test('one at a time may ask, when it is time, until its lease ends', () => {
  const breaker = opened(nowMs)(unknownBreaker) as Breaker;
  expect(leased(nowMs + 4_999)(breaker)).toBeUndefined();
  const held = leased(nowMs + 5_000)(breaker) as Breaker;
  expect(leased(nowMs + 12_999)(held)).toBeUndefined();
  expect(leased(nowMs + 13_000)(held)).toBeDefined();
  expect(leased(nowMs)(unknownBreaker)).toBeUndefined();
  // Another worker has had an answer meanwhile.
  expect(stillOpen(nowMs)(unknownBreaker)).toBeUndefined();
  expect(closed(unknownBreaker)).toBeUndefined();
});

test('numbers of two WABAs silent within five minutes, although reads are answered: it is the platform (D46)', () => {
  const one = afterSilentNumber('1', nowMs)(unknownBreaker) as Breaker;
  expect([one.open, isSuspected(one, nowMs)]).toEqual([undefined, false]);
  expect(afterSilentNumber('1', nowMs + 1)(one)?.open).toBeUndefined();
  expect(afterSilentNumber('2', nowMs + 300_000)(one)?.open).toBeUndefined();
  const both = afterSilentNumber('2', nowMs + 299_999)(one) as Breaker;
  expect(both.open).toMatchObject({ sinceMs: nowMs + 299_999, probeAtMs: nowMs + 304_999 });
  // A read closes the breaker; the numbers stay suspected until one of them gets an answer, or for five minutes.
  const after = closed(both) as Breaker;
  expect([isSuspected(after, nowMs + 299_999), isSuspected(after, nowMs + 300_000)]).toEqual([true, false]);
  expect(isSuspected(afterAnswer('1')(after) as Breaker, nowMs + 299_999)).toBe(false);
  expect(afterAnswer('3')(after)).toBeUndefined();
});

test('messages come back after the read, a little apart', () => {
  const open = { sinceMs: nowMs, probeAtMs: nowMs + 5_000, failedProbes: 0 };
  expect([0, 0.5, 0.999].map((random) => heldBackSeconds(open, nowMs + 100, random))).toEqual([5, 7, 9]);
  expect(heldBackSeconds(open, nowMs + 60_000, 0)).toBe(0);
});
