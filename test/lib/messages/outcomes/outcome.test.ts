import { expect, test } from 'vitest';
import { type Claim, claimLifeMs } from '../../../../lib/messages/dispatch/claim.ts';
import { countStates, outcomeOf } from '../../../../lib/messages/outcomes/outcome.ts';

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

test('every outcome is counted once', () => {
  const none = { delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };
  const counts = countStates(['sent', 'sent', 'held', 'read', 'pending']);
  expect(counts).toEqual({ ...none, sent: 2, held: 1, read: 1, pending: 1 });
});
