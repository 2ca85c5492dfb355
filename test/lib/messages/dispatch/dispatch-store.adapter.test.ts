import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import type { Claim } from '../../../../lib/messages/dispatch/claim.ts';
import { dispatchStore } from '../../../../lib/messages/dispatch/dispatch-store.ts';
import { batchKey, claimKey } from '../../../../lib/messages/items.ts';
import { type FaultPlan, injectFaults } from '../../../support/faults.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

/** A moment after a full second: an item is removed no sooner than it says. */
const nowMs = 1_800_000_000_001;
const expiresAtSeconds = 1_800_000_001 + 30 * 86_400;
let table: string;

beforeAll(async () => {
  table = await freshTable('messages');
});

function storeOver(client: DynamoDBDocumentClient) {
  return dispatchStore({ client, table, nowMs: () => nowMs });
}

function faulty(plan: FaultPlan) {
  const client = localDocumentClient();
  const faults = injectFaults(client, plan);
  return { store: storeOver(client), faults };
}

function claim(jobId: string, at = 'run-1/0'): Claim {
  return { key: { jobId, index: 251 }, state: 'claimed', at, claimedAtMs: nowMs, to: '5491100000000' };
}

test('the first claim is taken, the second sees the first', async () => {
  const store = storeOver(localDocumentClient());
  expect(await store.take(claim('A'))).toBeUndefined();
  expect(await store.take(claim('A', 'run-2/0'))).toEqual(claim('A'));
});

test('of ten claimants at once exactly one takes the claim', async () => {
  const store = storeOver(localDocumentClient());
  const taken = await Promise.all(Array.from({ length: 10 }, (_, run) => store.take(claim('B', `run-${run}/0`))));
  expect(taken.filter((existing) => existing === undefined)).toHaveLength(1);
});

test('a claim whose reply was lost is recognised as ours by the SDK retry (R16)', async () => {
  const { store, faults } = faulty(({ number }) => (number === 1 ? { kind: 'lose_reply' } : undefined));
  expect(await store.take(claim('C'))).toEqual(claim('C'));
  expect(faults.attempts.map(({ fault }) => fault)).toEqual(['lose_reply', undefined]);
});

test('a throttled claim is taken by the retry (R32)', async () => {
  const { store } = faulty(({ number }) => (number < 3 ? { kind: 'throttle' } : undefined));
  expect(await store.take(claim('D'))).toBeUndefined();
});

test('only its owner releases a claim, and a released claim can be taken again', async () => {
  const store = storeOver(localDocumentClient());
  await store.take(claim('E'));
  await store.release({ jobId: 'E', index: 251 }, 'run-2/0');
  expect(await store.take(claim('E', 'run-2/0'))).toEqual(claim('E'));
  await store.release({ jobId: 'E', index: 251 }, 'run-1/0');
  expect(await store.take(claim('E', 'run-2/0'))).toBeUndefined();
});

test('a settled claim stays as it is: not released, not settled otherwise', async () => {
  const store = storeOver(localDocumentClient());
  const key = { jobId: 'F', index: 251 };
  await store.take(claim('F'));
  const refused = { state: 'failed', code: '131026', reason: 'undeliverable' } as const;
  expect(await store.settle(key, 'run-2/0', refused)).toBe(false);
  expect(await store.settle(key, 'run-1/0', refused)).toBe(true);
  expect(await store.settle(key, 'run-1/0', { state: 'unknown', code: 'worker_lost' })).toBe(false);
  // An operator's word of the same state is not the repeated write of a worker.
  expect(await store.settle(key, 'run-1/0', { state: 'failed', code: 'cancelled' })).toBe(false);
  await store.release(key, 'run-1/0');
  expect(await store.take(claim('F'))).toEqual({ ...claim('F'), ...refused });
});

test('settling twice because a reply was lost is success', async () => {
  await storeOver(localDocumentClient()).take(claim('G'));
  const { store } = faulty(({ number }) => (number === 1 ? { kind: 'lose_reply' } : undefined));
  expect(await store.settle({ jobId: 'G', index: 251 }, 'run-1/0', { state: 'failed', code: '1' })).toBe(true);
});

test('nothing is settled where there is no claim', async () => {
  const store = storeOver(localDocumentClient());
  expect(await store.settle({ jobId: 'H', index: 0 }, 'run-1/0', { state: 'unknown', code: 'x' })).toBe(false);
  expect(await store.take({ ...claim('H'), key: { jobId: 'H', index: 0 } })).toBeUndefined();
});

test('a batch record is read back; an absent one is undefined', async () => {
  const store = storeOver(localDocumentClient());
  const taken = {
    'A-0': { platformMessageId: 'platform-id' },
    'A-1': { platformMessageId: 'platform-id-1', held: 'paused' },
  };
  await store.recordBatch('run-9', taken);
  expect(await store.findBatchRecord('run-9')).toEqual(taken);
  expect(await store.findBatchRecord('run-8')).toBeUndefined();
});

test('claims live 30 days from the claim, in seconds, 250 to a partition (R23)', async () => {
  const client = localDocumentClient();
  await storeOver(client).take(claim('I'));
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: claimKey(claim('I').key) }));
  expect(Item).toMatchObject({ pk: 'JOB#I#1', sk: '00251', expiresAtSeconds });
});

test('a batch record is read as it is, however late reads may be (R13)', async () => {
  const lagging = localDocumentClient();
  lagReads(lagging);
  const store = storeOver(lagging);
  const taken = { 'A-0': { platformMessageId: 'platform-id' } };
  await store.recordBatch('run-lagging', taken);
  expect(await store.findBatchRecord('run-lagging')).toEqual(taken);
});

test('claims and batch records outlive the queues: 30 days from when they are written, in seconds (R23)', async () => {
  const client = localDocumentClient();
  await storeOver(client).recordBatch('run-ttl', {});
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: batchKey('run-ttl') }));
  expect(Item).toMatchObject({ expiresAtSeconds });
});
