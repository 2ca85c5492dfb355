import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { queueMessageMaxBytes } from '../../../../lib/aws/queue-body.ts';
import { type NumberReceipts, ReceiptMessageSchema } from '../../../../lib/messages/receipts/receipt.ts';
import { receiptEntries } from '../../../../lib/messages/receipts/receipt-queue.ts';

const receiptOf = (index: number, reason?: string) => ({
  dispatchId: '01JD0000000000000000000000',
  index,
  status: 'failed',
  atMs: 1_750_030_073_000,
  platformMessageId: `wamid.${index}`,
  reason,
});
const numberOf = (wabaId: string, phoneNumberId: string, count: number, reason?: string): NumberReceipts => ({
  wabaId,
  phoneNumberId,
  receipts: Array.from({ length: count }, (_, index) => receiptOf(index, reason)),
});

/** Returns the queued receipts in order, each with its WABA and number. */
function toldBy(entries: ReturnType<typeof receiptEntries>) {
  return entries.flatMap(({ body, group }) => {
    const { numbers } = v.parse(v.strictObject(ReceiptMessageSchema.entries), JSON.parse(body));
    expect(numbers.every(({ wabaId }) => wabaId === group)).toBe(true);
    return numbers.flatMap(({ receipts, ...number }) => receipts.map((receipt) => ({ ...number, receipt })));
  });
}
const inOrder = (numbers: readonly NumberReceipts[]) =>
  [...Map.groupBy(numbers, ({ wabaId }) => wabaId).values()]
    .flat()
    .flatMap(({ receipts, ...number }) => receipts.map((receipt) => ({ ...number, receipt })));

test('the receipts of a WABA are one message, of whatever numbers; each WABA is its own group', () => {
  const numbers = [numberOf('11', '31', 2), numberOf('12', '33', 1), numberOf('11', '32', 3)];
  const entries = receiptEntries(numbers);
  expect(entries.map(({ group, delaySeconds }) => [group, delaySeconds])).toEqual([
    ['11', 0],
    ['12', 0],
  ]);
  expect(toldBy(entries)).toEqual(inOrder(numbers));
});

test('ids of the longest kind cost room and no receipt', () => {
  const person = { userId: `US.ENT.${'a'.repeat(128)}`, waId: '1'.repeat(20) };
  const receipts = Array.from({ length: 11_000 }, (_, index) => ({ ...receiptOf(index), ...person }));
  const entries = receiptEntries([{ wabaId: '11', phoneNumberId: '31', receipts }]);
  expect(entries).toHaveLength(4);
  expect(entries.every(({ body }) => Buffer.byteLength(body) <= queueMessageMaxBytes)).toBe(true);
  expect(toldBy(entries).map(({ receipt }) => receipt)).toEqual(receipts);
});

test('nothing is no message', () => {
  expect(receiptEntries([])).toEqual([]);
  expect(receiptEntries([numberOf('11', '31', 0)])).toEqual([]);
});

test('no message is over the size that the queue takes, and none could have held the first receipt of the next', () => {
  const numbers = [numberOf('11', '31', 2_500, 'ñ\u{1f355}\uffff"'.repeat(60)), numberOf('11', '32', 2_500)];
  const entries = receiptEntries(numbers);
  const sizes = entries.map(({ body }) => Buffer.byteLength(body));
  expect(entries.length).toBeGreaterThan(3);
  expect(sizes.every((bytes) => bytes <= queueMessageMaxBytes)).toBe(true);
  const largestReceipt = 2_000;
  expect(sizes.slice(0, -1).every((bytes) => bytes > queueMessageMaxBytes - largestReceipt)).toBe(true);
  expect(toldBy(entries)).toEqual(inOrder(numbers));
});

test('whatever receipts say, the queue messages say the same', () => {
  const receipt = fc.record({
    dispatchId: fc.constant('01JD0000000000000000000000'),
    index: fc.nat(9_999),
    status: fc.string({ unit: 'binary', minLength: 1 }),
    atMs: fc.nat(),
    platformMessageId: fc.string({ unit: 'binary' }),
    reason: fc.string({ unit: 'binary' }),
  });
  const number = fc.record({
    wabaId: fc.constantFrom('11', '12'),
    phoneNumberId: fc.constantFrom('31', '32', '33'),
    receipts: fc.array(receipt, { maxLength: 4 }),
  });
  fc.assert(
    fc.property(fc.array(number, { maxLength: 5 }), (numbers) => {
      expect(toldBy(receiptEntries(numbers))).toEqual(inOrder(numbers));
    }),
  );
});
