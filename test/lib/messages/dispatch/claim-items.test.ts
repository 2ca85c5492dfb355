import { randomUUID } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import type { BatchRecord } from '../../../../lib/messages/dispatch/claim.ts';
import { batchItemOf, batchRecordOf, claimOf } from '../../../../lib/messages/dispatch/claim-items.ts';
import { batchKey } from '../../../../lib/messages/items.ts';
import { seededRandom } from '../../../support/faults.ts';

const writeUnitBytes = 1_024;
const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function textOf(letters: string, length: number, random: () => number): string {
  return Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('');
}

/** Ten messages of so many jobs, with ids of the platform in which nothing repeats itself but the prefix. */
function tenMessages(jobs: number, platformIdLength: number): BatchRecord {
  const random = seededRandom(jobs * 100 + platformIdLength);
  const jobIds = Array.from({ length: jobs }, () => `01M${textOf(crockford, 23, random)}`);
  return Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [
      `${jobIds[index % jobs]}-${9_990 + index}`,
      { platformMessageId: `wamid.${textOf(base64, platformIdLength - 6, random)}` },
    ]),
  );
}

/** Of the item as it is written (dispatch-store.ts), as DynamoDB counts it: names and values, a number by two digits a byte. */
function itemBytes(record: BatchRecord): number {
  const item = marshall({ ...batchKey(randomUUID()), ...batchItemOf(record), expiresAtSeconds: 1_800_000_001 });
  return Object.entries(item).reduce((bytes, [name, { S, B, N }]) => {
    if (S === undefined && B === undefined && N === undefined) throw new Error(`${name} is of another type`);
    return bytes + name.length + (S?.length ?? B?.byteLength ?? Math.ceil((N?.length ?? 0) / 2) + 1);
  }, 0);
}

test.each([
  [1, 60],
  [1, 90],
  [10, 60],
  [10, 90],
])('the record of ten messages of %i jobs, platform ids of %i characters, is one write unit (R15)', (jobs, length) => {
  const record = tenMessages(jobs, length);
  expect(batchRecordOf(batchItemOf(record))).toEqual(record);
  expect(itemBytes(record)).toBeLessThan(writeUnitBytes);
});

test('so is the record of ten that the platform holds, of ten jobs', () => {
  const ten = Object.entries(tenMessages(10, 60));
  const record = Object.fromEntries(ten.map(([id, taken]) => [id, { ...taken, held: 'held_for_quality_assessment' }]));
  expect(itemBytes(record)).toBeLessThan(writeUnitBytes);
});

test('what the platform holds is told apart, by its word', () => {
  const record = { 'J-0': { platformMessageId: 'a' }, 'J-10': { platformMessageId: 'b', held: 'paused' } };
  expect(batchRecordOf(batchItemOf(record))).toEqual(record);
});

function packed(jobs: unknown) {
  return { packed: deflateRawSync(JSON.stringify(jobs)) };
}

test.each([{}, { packed: 'text' }, { packed: new Uint8Array([1, 2, 3]) }])(
  'what is no record is not taken for an empty one: %j',
  (item) => {
    expect(() => batchRecordOf(item)).toThrow();
  },
);

test.each([7, { J: 'a' }, { J: [[0]] }, { J: [['0', 'a']] }, { J: [[0, 'a', 7]] }, { J: [[0, 'a', 'paused', 'b']] }])(
  'nor is one that is packed: %j',
  (jobs) => {
    expect(() => batchRecordOf(packed(jobs))).toThrow();
  },
);

test('a record unpacks to what ten messages may say, and not to what fills the memory', () => {
  const ten = (length: number) => packed({ J: Array.from({ length: 10 }, (_, index) => [index, 'x'.repeat(length)]) });
  expect(Object.keys(batchRecordOf(ten(1_000)))).toHaveLength(10);
  expect(() => batchRecordOf(ten(10_000))).toThrow();
});

const claimItem = { pk: 'JOB#J#1', sk: '00251', at: 'run-1/0', claimedAtMs: 1, expiresAtSeconds: 2 };

test.each(['claimed', 'sent', 'failed', 'expired', 'unknown'])('a claim that says %s is read', (state) => {
  expect(claimOf('J', { ...claimItem, state })).toEqual({
    key: { jobId: 'J', index: 251 },
    state,
    at: 'run-1/0',
    claimedAtMs: 1,
  });
});

test('a claim is read with all that it says', () => {
  const said = { to: '549', code: 'receipt', reason: 'why', resolvedAtMs: 3 };
  expect(claimOf('J', { ...claimItem, state: 'sent', ...said })).toMatchObject(said);
});

test.each(['', 'lost'])('a claim in no state that is known is not taken for one that can be had: %j', (state) => {
  expect(() => claimOf('J', { ...claimItem, state })).toThrow();
});
