import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { keptReceipt, receiptItems, receiptsOf } from '../../../../lib/messages/receipts/receipt-items.ts';

const dispatchId = '01K9ZQ4T5W8XJ7M2N3P4R5S6T7';
const expiresAtSeconds = 1_800_000_000;
const text = fc.string({ unit: 'binary', maxLength: 40 });
const anyReceipt: fc.Arbitrary<Receipt> = fc
  .record({
    index: fc.integer({ min: 0, max: 9_999 }),
    status: fc.oneof(fc.constantFrom('sent', 'delivered', 'read', 'failed'), text),
    atMs: fc.integer({ min: 0, max: 2e12 }),
    platformMessageId: text,
    code: fc.option(text, { nil: undefined }),
    reason: fc.option(text, { nil: undefined }),
    pricing: fc.option(fc.constant({ billable: true, category: 'utility' }), { nil: undefined }),
    userId: fc.option(text, { nil: undefined }),
    waId: fc.option(text, { nil: undefined }),
  })
  .map((receipt) => ({ dispatchId, ...receipt }));

const sorted = (receipts: readonly Receipt[]) => [...new Set(receipts.map((each) => JSON.stringify(each)))].sort();
const names = (receipts: readonly Receipt[]) =>
  receiptItems(dispatchId, receipts, expiresAtSeconds)
    .map(({ pk, sk }) => `${pk} ${sk}`)
    .sort();

test('receipts are read as they were written, each once', () => {
  fc.assert(
    fc.property(fc.array(anyReceipt), (receipts) => {
      const items = receiptItems(dispatchId, receipts, expiresAtSeconds);
      // Each item's receipts decode to their places, in key order.
      const read = items.flatMap(receiptsOf);
      expect(read.length).toBe(sorted(receipts).length);
      for (const receipt of read) expect(receipts).toContainEqual(receipt);
    }),
  );
});

test('the same receipts in another order and doubled are the same items', () => {
  fc.assert(
    fc.property(fc.array(anyReceipt, { minLength: 1 }), (receipts) => {
      expect(names([...receipts].reverse().concat(receipts))).toEqual(names(receipts));
    }),
  );
});

const bulk = Array.from({ length: 10_000 }, (_, index) =>
  ['sent', 'delivered', 'read'].map((status, step) => ({
    dispatchId,
    index,
    status,
    atMs: 1_790_000_000_000 + index * 7 + step,
    platformMessageId: `wamid.HBgN${Buffer.from(`${index}-${index * 7_919}-noise`).toString('base64url')}`,
    pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' },
  })),
).flat();

test('an item holds receipts of a thousand messages at the most, and stays far below 400 KB', () => {
  const items = receiptItems(dispatchId, bulk, expiresAtSeconds);
  expect(new Set(items.map(({ pk }) => pk)).size).toBe(10);
  expect(Math.max(...items.map(({ receipts }) => receipts.byteLength))).toBeLessThan(200_000);
  expect(items.flatMap(receiptsOf)).toHaveLength(bulk.length);
  expect(items.length).toBeLessThan(bulk.length * 0.01);
});

describe('of the person', () => {
  const named = { dispatchId, index: 7, atMs: 1, platformMessageId: 'wamid.1', userId: 'US.1', waId: '16505551234' };

  test.each(['sent', 'failed', 'held_by_tomorrow'])(
    'the user id is kept with %s, and the number where it was not given',
    (status) => {
      expect(keptReceipt({ ...named, status }, {})).toEqual({ ...named, status, waId: undefined });
      expect(keptReceipt({ ...named, status }, {})).not.toMatchObject({ waId: expect.anything() });
      expect(keptReceipt({ ...named, status }, { byUserId: true })).toEqual({ ...named, status });
    },
  );

  test.each(['delivered', 'read', 'played'])('%s repeats what is kept', (status) => {
    const { userId: _userId, waId: _waId, ...receipt } = named;
    expect(keptReceipt({ ...named, status }, { byUserId: true })).toEqual({ ...receipt, status });
  });

  // User ids of some 65 messages cost a write unit; repeated with each of three statuses they would cost three times as
  // much.
  test('a user id takes fifteen bytes a message', () => {
    const noise = (index: number) => createHash('sha256').update(`${index}`).digest().readBigUInt64BE();
    const bytesOf = (receipts: readonly Receipt[]) =>
      ['sent', 'delivered', 'read']
        .map((word) => receipts.filter(({ status }) => status === word).map((receipt) => keptReceipt(receipt, {})))
        .flatMap((ofStatus) => receiptItems(dispatchId, ofStatus, expiresAtSeconds))
        .reduce((sum, item) => sum + item.receipts.byteLength, 0);
    const withIds = bulk.map((receipt) => ({
      ...receipt,
      userId: `AR.${noise(receipt.index)}`,
      waId: '5491155550001',
    }));
    const added = (bytesOf(withIds) - bytesOf(bulk)) / 10_000;
    expect(added).toBeGreaterThan(5);
    expect(added).toBeLessThan(18);
  });
});

test('no receipts are no items', () => {
  expect(receiptItems(dispatchId, [], expiresAtSeconds)).toEqual([]);
});
