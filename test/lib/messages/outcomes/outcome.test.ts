import { describe, expect, test } from 'vitest';
import { type BatchRecord, type Claim, claimLifeMs, provenByReceipt } from '../../../../lib/messages/dispatch/claim.ts';
import { batchRecordDecides, countStates, outcomeOf, reported } from '../../../../lib/messages/outcomes/outcome.ts';
import { fold } from '../../../../lib/messages/receipts/fold.ts';

const key = { jobId: 'J', index: 7 };
const nowMs = 1_800_000_000_000;
const batch = { 'J-7': { platformMessageId: 'platform-7' } };
const heldBatch = { 'J-7': { platformMessageId: 'platform-7', held: 'paused' } };

function claim(changes: Partial<Claim> = {}): Claim {
  return { key, state: 'claimed', at: 'run-1/0', claimedAtMs: nowMs - claimLifeMs, to: '549', ...changes };
}

test.each([
  ['no claim', {}, 'pending'],
  ['a young claim', { claim: claim({ claimedAtMs: nowMs - claimLifeMs + 1 }) }, 'pending'],
  ['an old claim without batch record', { claim: claim() }, 'unknown'],
  ['a batch record that does not name it', { claim: claim(), batch: { 'J-8': { platformMessageId: 'x' } } }, 'unknown'],
  ['a claim named by its batch record', { claim: claim(), batch }, 'sent'],
  ['a young claim named by its batch record', { claim: claim({ claimedAtMs: nowMs }), batch }, 'sent'],
  ['a claim whose batch record says held', { claim: claim(), batch: heldBatch }, 'held'],
  ['unknown, proven to be held', { claim: claim({ state: 'unknown' }), batch: heldBatch }, 'held'],
  ['a refusal', { claim: claim({ state: 'failed', code: '131026' }) }, 'failed'],
  ['an expiry', { claim: claim({ state: 'expired' }) }, 'expired'],
  ['an ambiguous answer', { claim: claim({ state: 'unknown' }) }, 'unknown'],
  ['unknown, proven by a late batch record', { claim: claim({ state: 'unknown' }), batch }, 'sent'],
  ['resolved by hand', { claim: claim({ state: 'failed', code: 'resolved_by_operator' }), batch }, 'failed'],
] as const)('%s', (_, stored, expected) => {
  expect(outcomeOf(key, stored, nowMs).state).toBe(expected);
});

describe('a claim in a job that was stopped', () => {
  const stop = { state: 'failed', code: 'cancelled', atMs: nowMs - 10 } as const;
  const young = claim({ claimedAtMs: nowMs });
  test.each([
    ['before all of it has ended', { claim: young, job: { stop } }, 'pending'],
    ['after all of it has ended', { claim: young, job: { stop, endedAtMs: nowMs } }, 'failed'],
    ['after that, its worker is dead', { claim: claim(), job: { stop, endedAtMs: nowMs - 1 } }, 'failed'],
    ['whose worker was dead by then', { claim: claim(), job: { stop, endedAtMs: nowMs } }, 'unknown'],
    ['that was sent', { claim: young, batch, job: { stop, endedAtMs: nowMs } }, 'sent'],
    ['that had expired', { claim: claim({ state: 'expired' }), job: { stop, endedAtMs: nowMs } }, 'expired'],
  ] as const)('%s (D53)', (_, stored, expected) => {
    expect(outcomeOf(key, stored, nowMs).state).toBe(expected);
  });
});

test('an outcome tells recipient, code, reason and the platform’s id', () => {
  expect(outcomeOf(key, { claim: claim(), batch }, nowMs)).toEqual({
    dispatchId: 'J-7',
    state: 'sent',
    to: '549',
    platformMessageId: 'platform-7',
    atMs: claim().claimedAtMs,
  });
  expect(outcomeOf(key, { claim: claim(), batch: heldBatch }, nowMs)).toEqual({
    dispatchId: 'J-7',
    state: 'held',
    to: '549',
    code: 'paused',
    platformMessageId: 'platform-7',
    atMs: claim().claimedAtMs,
  });
  const refused = claim({ state: 'failed', code: '131026', reason: 'undeliverable' });
  expect(outcomeOf(key, { claim: refused }, nowMs)).toMatchObject({ code: '131026', reason: 'undeliverable' });
});

const heldWord = { 'J-7': { platformMessageId: 'platform-7', held: 'held_for_quality_assessment' } };
const statusesTold = ['a word of tomorrow', 'sent', 'delivered', 'read', 'failed'] as const;

/** What a reader of the report sees, who reads a batch record only where that decides. */
function reportOf(stored: Claim | undefined, record: BatchRecord | undefined, statuses: readonly string[]) {
  const proven = fold(
    statuses.map((status) => ({
      ...{ jobId: 'J', index: 7, status, atMs: nowMs + 5, platformMessageId: 'platform-7' },
      ...(status === 'failed' ? { code: '131049', reason: 'a cap' } : {}),
    })),
  );
  const isRead = stored !== undefined && batchRecordDecides(stored, proven);
  return reported(outcomeOf(key, { claim: stored, batch: isRead ? record : undefined }, nowMs), proven);
}

describe('a claim that a receipt settled is reported as if it had been left alone (D39)', () => {
  const young = { claimedAtMs: nowMs };
  const before = [
    ['in flight, sent', claim(young), batch],
    ['in flight, held', claim(young), heldBatch],
    ['in flight, held for its quality', claim(young), heldWord],
    ['in flight, and its worker dies', claim(young), undefined],
    ['unknown', claim({ state: 'unknown', code: 'no_answer', reason: 'nobody answered' }), undefined],
    ['unknown, held by a late batch record', claim({ state: 'unknown', code: 'worker_lost' }), heldBatch],
  ] as const;
  const cases = before.flatMap((each) => statusesTold.map((status) => [...each, status] as const));

  test.each(cases)('%s: %s', (_, unsettled, record, status) => {
    const { reason: _removed, ...kept } = unsettled;
    for (const settled of [
      { ...kept, ...provenByReceipt },
      { ...kept, ...provenByReceipt, resolvedAtMs: nowMs + 9 },
    ]) {
      expect(reportOf(settled, record, [status])).toEqual(reportOf(unsettled, record, [status]));
      expect(reportOf(settled, record, [status]).code).not.toBe(provenByReceipt.code);
    }
  });

  test('also one that was taken because it had been given back', () => {
    const taken = { ...provenByReceipt, key, at: 'receipts/0', claimedAtMs: nowMs + 7 };
    for (const status of statusesTold) {
      expect(reportOf(taken, undefined, [status])).toEqual(reportOf(undefined, undefined, [status]));
    }
  });

  test('and is never pending or unknown where its receipts are not seen yet', () => {
    const settled = claim(provenByReceipt);
    expect(reportOf(settled, undefined, [])).toEqual({ dispatchId: 'J-7', state: 'sent', to: '549' });
    expect(reportOf(settled, heldBatch, [])).toEqual(reportOf(claim(), heldBatch, []));
  });
});

test('every outcome is counted once', () => {
  const none = { delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };
  const counts = countStates(['sent', 'sent', 'held', 'read', 'pending']);
  expect(counts).toEqual({ ...none, sent: 2, held: 1, read: 1, pending: 1 });
});
