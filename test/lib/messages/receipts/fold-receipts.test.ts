import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldReceipts, proofOf } from '../../../../lib/messages/receipts/fold-receipts.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { type OwnOutcome, type OwnState, reportedOutcome } from '../../../../lib/messages/receipts/reported-state.ts';

function receipt(status: string, atMs = 1_800_000_000_000, changes: Partial<Receipt> = {}): Receipt {
  return { dispatchId: 'J', index: 0, status, atMs, platformMessageId: 'wamid.1', ...changes };
}

const anyReceipt = fc
  .record({
    status: fc.constantFrom('sent', 'delivered', 'read', 'failed', 'played', 'warning', '', 'constructor', '__proto__'),
    atMs: fc.integer({ min: 0, max: 3 }),
    platformMessageId: fc.constantFrom('wamid.1', 'wamid.2'),
    code: fc.constantFrom('131026', '131049'),
    userId: fc.constantFrom('US.1', 'US.2', undefined),
    waId: fc.constantFrom('1650', '1651', undefined),
  })
  .map((facts): Receipt => ({ dispatchId: 'J', index: 0, ...facts }));

/** Returns all orders of all selections, with each status at most `times` times. */
function sequences(statuses: readonly string[], times: number): string[][] {
  const found: string[][] = [[]];
  const walk = (sequence: string[]) => {
    for (const status of statuses) {
      if (sequence.filter((each) => each === status).length >= times) continue;
      found.push([...sequence, status]);
      walk([...sequence, status]);
    }
  };
  walk([]);
  return found;
}

const furthestOf = (sequence: readonly string[]) =>
  ['read', 'delivered', 'failed', 'sent'].find((status) => sequence.includes(status));

const all = sequences(['sent', 'delivered', 'read', 'failed'], 2);

test.each([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
  ['failed', 'failed'],
  ['a word of tomorrow', 'taken'],
  ['', 'taken'],
  ['constructor', 'taken'],
  ['__proto__', 'taken'],
])('status %s proves %s', (status, proof) => {
  expect(proofOf({ status })).toBe(proof);
});

describe('the fold', () => {
  test('says nothing without a receipt', () => {
    expect(foldReceipts([])).toBeUndefined();
  });

  test('any order, duplicates and doubled parts end the same', () => {
    const receiptsInTwoOrders = fc
      .array(anyReceipt, { minLength: 1, maxLength: 8 })
      .chain((receipts) =>
        fc.tuple(
          fc.constant(receipts),
          fc.shuffledSubarray([...receipts, ...receipts], { minLength: receipts.length * 2 }),
        ),
      );
    fc.assert(
      fc.property(receiptsInTwoOrders, ([receipts, shuffled]) => {
        expect(foldReceipts(shuffled)).toEqual(foldReceipts(receipts));
      }),
    );
  });

  test('a further receipt never takes back what is proven', () => {
    const rank = ['taken', 'sent', 'failed', 'delivered', 'read'];
    fc.assert(
      fc.property(fc.array(anyReceipt, { minLength: 1 }), anyReceipt, (receipts, further) => {
        const before = foldReceipts(receipts)?.proof ?? '';
        expect(rank.indexOf(foldReceipts([...receipts, further])?.proof ?? '')).toBeGreaterThanOrEqual(
          rank.indexOf(before),
        );
      }),
    );
  });

  test('of every order of every receipt, each up to twice, is the furthest', () => {
    // An empty list would pass.
    expect(all.length).toBeGreaterThan(5_000);
    for (const sequence of all) {
      expect(foldReceipts(sequence.map((status, at) => receipt(status, at)))?.proof, sequence.join()).toBe(
        furthestOf(sequence),
      );
    }
  });

  test('of receipts that prove the same the earliest decides, and of one moment the text', () => {
    const [late, early] = [receipt('read', 2), receipt('played', 1)];
    expect(foldReceipts([late, early])?.receipt).toBe(early);
    const [one, other] = [receipt('failed', 1, { code: '131026' }), receipt('failed', 1, { code: '131049' })];
    expect(foldReceipts([one, other])).toEqual(foldReceipts([other, one]));
  });
});

test('the person is named as any receipt names them, and as the latest one does', () => {
  const [sent, read] = [receipt('sent', 1, { userId: 'US.1', waId: '1650' }), receipt('read', 2)];
  const asRead = { proof: 'read', receipt: read, deliveredAtMs: 2, userId: 'US.1', waId: '1650' };
  expect(foldReceipts([sent, read])).toEqual(asRead);
  expect(foldReceipts([receipt('failed', 3, { userId: 'US.2' }), read, sent])).toMatchObject({
    userId: 'US.2',
    waId: '1650',
  });
  for (const state of ['held', 'sent', 'pending'] as const) {
    expect(reportedOutcome({ state }, foldReceipts([sent, receipt('warning')]))).toMatchObject({
      userId: 'US.1',
      waId: '1650',
    });
    expect(reportedOutcome({ state }, foldReceipts([receipt('warning', 1, { userId: 'US.1' })]))).toMatchObject({
      userId: 'US.1',
    });
  }
});

describe('what is reported', () => {
  const own: Readonly<Record<OwnState, OwnOutcome>> = {
    pending: { state: 'pending' },
    unknown: { state: 'unknown', code: 'no_answer', reason: 'the platform did not answer', atMs: 5 },
    held: { state: 'held', code: 'paused', platformMessageId: 'wamid.1', atMs: 5 },
    sent: { state: 'sent', platformMessageId: 'wamid.1', atMs: 5 },
    failed: { state: 'failed', code: '131026', reason: 'refused', atMs: 5 },
    expired: { state: 'expired', code: 'expired', atMs: 5 },
  };
  const states = Object.keys(own) as OwnState[];

  test.each(states)('every order of every receipt, each up to twice, against %s', (state) => {
    for (const sequence of all) {
      const proven = foldReceipts(
        sequence.map((status, at) => receipt(status, at + 10, { code: '131049', reason: 'a cap' })),
      );
      const reported = reportedOutcome(own[state], proven);
      const expected = furthestOf(sequence);
      if (expected === undefined) expect(reported).toEqual(own[state]);
      else {
        const why = expected === 'failed' ? { code: '131049', reason: 'a cap' } : {};
        const atMs = 10 + sequence.indexOf(expected);
        expect(reported).toEqual({ state: expected, platformMessageId: 'wamid.1', atMs, ...why });
      }
    }
  });

  test.each([
    ['pending', 'sent'],
    ['unknown', 'sent'],
    ['held', 'held'],
    ['sent', 'sent'],
    ['failed', 'sent'],
    ['expired', 'sent'],
  ] as const)('an unknown status proves that %s was taken: %s', (state, expected) => {
    const reported = reportedOutcome(own[state], foldReceipts([receipt('warning', 9)]));
    expect(reported).toMatchObject({ state: expected, platformMessageId: 'wamid.1' });
    if (state === 'held') expect(reported).toMatchObject({ code: 'paused', atMs: 5 });
  });
});
