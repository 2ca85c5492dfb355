import { expect, test } from 'vitest';
import {
  batchKey,
  claimKey,
  claimPartition,
  commitKey,
  idempotencyKey,
  invocationOfBatch,
  jobKey,
  jobsOfDayPartition,
  jobsOfDaySortKey,
  mayBegin,
  mayWithdraw,
  questionKey,
  turnsKey,
} from '../../../lib/messages/items.ts';

const jobId = '01K9ZQ4T5W8XJ7M2N3P4R5S6T7';
const at = Date.UTC(2026, 9, 1, 23, 59, 59, 999);

/* Items outlive versions (D47): 0.1.0 wrote these keys, letter for letter, and every later version looks for them. */
test.each<[string, object, object]>([
  ['a job', jobKey(jobId), { pk: 'JOB#01K9ZQ4T5W8XJ7M2N3P4R5S6T7', sk: 'JOB' }],
  ['its commit', commitKey(jobId), { pk: 'JOB#01K9ZQ4T5W8XJ7M2N3P4R5S6T7', sk: 'COMMIT' }],
  ['the first claim', claimKey({ jobId, index: 0 }), { pk: 'JOB#01K9ZQ4T5W8XJ7M2N3P4R5S6T7#0', sk: '00000' }],
  ['the last claim of a partition', claimKey({ jobId, index: 249 }), { pk: `JOB#${jobId}#0`, sk: '00249' }],
  ['the largest claim', claimKey({ jobId, index: 9_999 }), { pk: `JOB#${jobId}#39`, sk: '09999' }],
  ['a batch record', batchKey('req-1/a'), { pk: 'BATCH#req-1/a', sk: 'BATCH' }],
  [
    'an idempotency record',
    idempotencyKey({ clientId: 1001, did: '5491100000001', key: 'order 7' }),
    { pk: 'IDEMPOTENCY#1001#5491100000001#D8ifiuGTlLSN69Y1O7mtM5PzvHkZMVGfGdF2p-VRPrw', sk: 'IDEMPOTENCY' },
  ],
  ['a question', questionKey('abc'), { pk: 'QUESTION#abc', sk: 'QUESTION' }],
  ['the turns of a client', turnsKey(1001), { pk: 'QUESTIONS#1001', sk: 'QUESTIONS' }],
])('%s is stored where 0.1.0 stored it', (_, key, spelled) => {
  expect(key).toEqual(spelled);
});

test('the jobs of a day are stored where 0.1.0 stored them', () => {
  expect(jobsOfDayPartition('5491100000001', at)).toBe('DID#5491100000001#2026-10-01');
  expect(jobsOfDaySortKey(at, jobId)).toBe('001790899199999#01K9ZQ4T5W8XJ7M2N3P4R5S6T7');
  expect(jobsOfDaySortKey(at)).toBe('001790899199999#');
});

test('claims and batch records are found by what they belong to', () => {
  expect(claimPartition(jobId, 1)).toBe(claimKey({ jobId, index: 250 }).pk);
  expect(invocationOfBatch(batchKey('req-1/a').pk)).toBe('req-1/a');
});

test('a job is begun or withdrawn under conditions that exclude each other, as 0.1.0 wrote them (D25)', () => {
  expect([mayBegin, mayWithdraw]).toEqual(['attribute_not_exists(withdrawnAtMs)', 'attribute_not_exists(head)']);
});
