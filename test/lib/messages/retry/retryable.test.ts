import { describe, expect, test } from 'vitest';
import { adviceOfCode } from '../../../../lib/messages/retry/causes.ts';
import { parseRetryRequest } from '../../../../lib/messages/retry/retry-request.ts';
import { type Ended, retryabilityOf, retryableIn } from '../../../../lib/messages/retry/retryable.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';

const nowMs = 1_800_000_000_000;
const minuteMs = 60_000;
const dayMs = 86_400_000;

function endedWith(code: string | undefined, changes: Partial<Ended> & Partial<Ended['outcome']> = {}): Ended {
  const { state = 'failed', atMs = nowMs - minuteMs, ...rest } = changes;
  const outcome = { state, atMs, ...(code === undefined ? {} : { code }) };
  return { outcome, byReceipt: false, to: '5491155550001', category: 'MARKETING', ...rest };
}

describe('whether a message may be sent once more (D57)', () => {
  test.each(['pending', 'held', 'sent', 'delivered', 'read', 'unknown'] as const)('%s: never', (state) => {
    const codes = new Set(['no_answer', '131000']);
    for (const code of codes) expect(retryabilityOf(endedWith(code, { state }), codes, nowMs)).toBe('no');
  });

  test.each([
    ['131016', 'retry', 'retry'],
    ['expired', 'retry', 'retry'],
    ['retry_deadline', 'retry', 'retry'],
    ['250', 'retry', 'retry'],
    ['cancelled', 'no', 'retry'],
    ['131026', 'no', 'retry'],
    ['http_404', 'no', 'retry'],
    ['131050', 'no', 'no'],
    ['opted_out', 'no', 'no'],
    ['erased', 'no', 'no'],
    ['132000', 'no', 'no'],
    // The code is in no table, so its cause is unknown.
    ['999999', 'no', 'no'],
  ])('%s: %s, and %s when it is named', (code, unnamed, named) => {
    expect(retryabilityOf(endedWith(code), undefined, nowMs)).toBe(unnamed);
    expect(retryabilityOf(endedWith(code), new Set([code]), nowMs)).toBe(named);
    expect(retryabilityOf(endedWith(code), new Set(['2']), nowMs)).toBe('no');
  });

  test('without a code: never', () => {
    expect(retryabilityOf(endedWith(undefined), undefined, nowMs)).toBe('no');
  });

  test('131049 a day after the failure, named or not; to the United States never', () => {
    const at = (atMs: number, to?: string) => endedWith('131049', { atMs, ...(to === undefined ? {} : { to }) });
    for (const codes of [undefined, new Set(['131049'])]) {
      expect(retryabilityOf(at(nowMs - dayMs + 1), codes, nowMs)).toBe('later');
      expect(retryabilityOf(at(nowMs - dayMs), codes, nowMs)).toBe('retry');
      expect(retryabilityOf(at(nowMs - 2 * dayMs, '12125550100'), codes, nowMs)).toBe('no');
    }
  });

  test('told by receipt ten minutes after it, told by the answer at once', () => {
    const told = (atMs: number) => endedWith('131053', { byReceipt: true, atMs });
    expect(retryabilityOf(told(nowMs - 10 * minuteMs + 1), undefined, nowMs)).toBe('later');
    expect(retryabilityOf(told(nowMs - 10 * minuteMs), undefined, nowMs)).toBe('retry');
    expect(retryabilityOf(endedWith('131053', { atMs: nowMs }), undefined, nowMs)).toBe('retry');
  });
});

test('each recipient once, in the order of the request; erased ones are none (D25, D60)', () => {
  const dispatch = {
    head: makeDispatchHead({ total: 4 }),
    // The second place repeats the first.
    repeats: [[1, 0]] as [number, number][],
    recipients: new Map([0, 1, 2, 3].map((index) => [index, `549110000000${index}`])),
    erased: new Set([2]),
  };
  const { outcome, byReceipt } = endedWith('expired', { state: 'expired' });
  expect(retryableIn(dispatch, () => ({ outcome, byReceipt }), { codes: undefined, nowMs })).toEqual({
    places: [
      { index: 0, position: 0 },
      { index: 1, position: 2 },
      { index: 3, position: 4 },
    ],
    later: 0,
  });
  const lately = () => ({ outcome: { ...outcome, atMs: nowMs }, byReceipt: true });
  expect(retryableIn(dispatch, lately, { codes: undefined, nowMs })).toEqual({ places: [], later: 3 });
});

describe('the body of a retry', () => {
  test('names codes that reports have, or none', () => {
    expect(parseRetryRequest({})).toBeUndefined();
    expect(parseRetryRequest({ codes: ['131026', 'http_404', 'cancelled'] })?.size).toBe(3);
  });

  test.each([
    [{ codes: ['131O26'] }, '"131O26"'],
    [{ codes: ['__proto__'] }, '"__proto__"'],
    [{ codes: ['http_4040'] }, '"http_4040"'],
    [{ codes: [131026] }, 'a text'],
    [{ codes: [] }, 'at least one'],
    [{ codes: Array(101).fill('2') }, '100'],
    [{ code: ['2'] }, 'did you mean codes?'],
  ])('%j is refused', (body, named) => {
    expect(() => parseRetryRequest(body)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(named) }),
    );
  });

  test('what is the same in every table is asked for by its number', () => {
    expect([adviceOfCode('200'), adviceOfCode('299'), adviceOfCode('300'), adviceOfCode('constructor')]).toEqual([
      'yes',
      'yes',
      undefined,
      undefined,
    ]);
  });
});
