import { expect, test } from 'vitest';
import {
  type Claim,
  claimantOf,
  claimLifeMs,
  claimMemorySeconds,
  claimRemainderMs,
  dispatchTimeoutMs,
  endedByStop,
  invocationOf,
  isIn,
  lateness,
  newClaim,
  platformCallTimeoutMs,
  sendBudgetMs,
} from '../../../../lib/messages/dispatch/claim.ts';
import { cancelled } from '../../../../lib/messages/job-state.ts';
import { dispatchMessage, startMs } from '../../../support/scenario-job.ts';

const dayMs = 86_400_000;
const key = { jobId: 'J', index: 0 };

function claimed(changes: Partial<Claim> = {}): Claim {
  return { key, state: 'claimed', at: 'run-1/0', claimedAtMs: startMs, ...changes };
}

test('a claim outlives the function by a margin for clocks and late writes, a send its call by the time for a write (R13)', () => {
  expect(claimLifeMs - dispatchTimeoutMs).toBeGreaterThanOrEqual(30_000);
  expect(sendBudgetMs - platformCallTimeoutMs).toBeGreaterThanOrEqual(3_000);
  expect(sendBudgetMs).toBeLessThan(dispatchTimeoutMs);
});

test('the last message is sent while its claim, and every earlier one of it, is remembered (R23, R24)', () => {
  const lastMs = startMs + claimMemorySeconds * 1_000 - dispatchTimeoutMs;
  expect(lateness(dispatchMessage(0), lastMs)).toEqual({ state: 'failed', code: 'retry_deadline' });
});

test.each([
  ['just taken', 0, claimLifeMs],
  ['a moment before its end', claimLifeMs - 1, 1],
  ['at its end', claimLifeMs, 0],
  ['long after', dayMs, 0],
  ['taken by a clock that goes before ours', -dayMs, claimLifeMs],
])('a claim %s is respected for its rest, and never for longer than its life', (_, ageMs, remainderMs) => {
  expect(claimRemainderMs(claimed(), startMs + ageMs)).toBe(remainderMs);
});

test.each([
  ['several parts', 'req-1/a', 7],
  ['one part', 'req-1', 10],
])('an invocation of %s is found in the claimant that it names', (_, invocation, position) => {
  expect(invocationOf(claimantOf(invocation, position))).toBe(invocation);
  expect(claimantOf(invocation, position)).not.toBe(claimantOf(invocation, position + 1));
});

test.each([
  ['a number', { to: '549' }, { to: '549' }],
  ['a number and an id', { to: '549', recipient: 'user-1' }, { to: '549' }],
  ['an id', { recipient: 'user-1' }, { to: 'user-1' }],
  ['nobody', {}, {}],
])('a claim for a message to %s says to whom', (_, request, said) => {
  expect(newClaim(dispatchMessage(3, { request }), 'run-1/0', startMs)).toEqual({
    key: { jobId: 'J', index: 3 },
    at: 'run-1/0',
    claimedAtMs: startMs,
    state: 'claimed',
    ...said,
  });
});

test('a stop goes before lateness, for a claim that is settled from the start (D53)', () => {
  const late = dispatchMessage(0, { expiresAtMs: startMs });
  expect(newClaim(late, 'run-1/0', startMs)).toMatchObject({ state: 'expired', code: 'expired' });
  const stopped = { state: 'failed', code: 'cancelled' } as const;
  expect(newClaim(late, 'run-1/0', startMs, stopped)).toMatchObject(stopped);
});

test.each<[string, Claim, number | undefined, boolean]>([
  ['taken after the end of its job', claimed(), -1, true],
  ['whose owner could still be running at the end', claimed(), claimLifeMs - 1, true],
  ['whose owner could not be running any more at the end', claimed(), claimLifeMs, false],
  ['of a job that has not ended', claimed(), undefined, false],
  ['that was settled', claimed({ state: 'unknown' }), -1, false],
])('a claim %s: ends as the job was stopped, or not (D53)', (_, claim, endedAfterMs, ends) => {
  const stop = cancelled(1);
  const ended = endedAfterMs === undefined ? {} : { endedAtMs: startMs + endedAfterMs };
  expect(endedByStop(claim, { stop, ...ended })).toEqual(ends ? stop : undefined);
});

test('a batch record vouches for the messages that it names, and for no others', () => {
  const record = { 'J-0': { platformMessageId: 'platform-0' } };
  expect([isIn(record, key), isIn(record, { ...key, index: 1 }), isIn(undefined, key)]).toEqual([true, false, false]);
});
