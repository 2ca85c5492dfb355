import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import type { ItemKey } from '../../../../lib/aws/item-key.ts';
import { acceptanceStore } from '../../../../lib/messages/accept/acceptance-store.ts';
import { acceptedOf, recipientsOf } from '../../../../lib/messages/accept/accepted-job.ts';
import { jobStore } from '../../../../lib/messages/fan-out/job-store.ts';
import { acceptedKey, commitKey, jobKey, recipientsKey } from '../../../../lib/messages/items.ts';
import { makeJobHead } from '../../../support/send-jobs.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

// A part of a second is a second more.
const nowMs = 1_700_000_000_001;
const in30DaysSeconds = 1_700_000_001 + 30 * 86_400;
const client = localDocumentClient();
const table = await freshTable('messages');
const store = acceptanceStore(client, table, () => nowMs);
const { signal } = new AbortController();

async function itemOf(Key: ItemKey) {
  return (await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))).Item;
}

test('a commit is there for 30 days, in seconds, so that a part that comes late finds it (D25, R23)', async () => {
  await store.commit('A', signal);
  expect(await itemOf(commitKey('A'))).toMatchObject({ committedAtMs: nowMs, expiresAtSeconds: in30DaysSeconds });
});

test('a withdrawal is there for 30 days, in seconds, so that a job that comes late is not sent (D25, R23)', async () => {
  expect(await store.withdraw('B')).toBe('withdrawn');
  expect(await itemOf(jobKey('B'))).toMatchObject({ withdrawnAtMs: nowMs, expiresAtSeconds: in30DaysSeconds });
});

test('of withdrawal and beginning the first counts, and either may be repeated', async () => {
  const jobs = jobStore(client, table);
  expect(await store.withdraw('C', signal)).toBe('withdrawn');
  expect(await store.withdraw('C', signal)).toBe('withdrawn');
  expect(await jobs.begin(makeJobHead({ jobId: 'C' }), 1)).toBeUndefined();
  expect(await jobs.begin(makeJobHead({ jobId: 'D' }), 1)).toBe(0);
  expect(await jobs.begin(makeJobHead({ jobId: 'D' }), 1)).toBe(0);
  expect(await store.withdraw('D', signal)).toBe('begun');
});

test('an acceptance is described for its report, with its recipients (D40)', async () => {
  const head = makeJobHead({ jobId: 'F', acceptedAtMs: nowMs, total: 2 });
  await store.describe({ head, firstIndex: 0, recipients: [{ to: '1' }, { to: '2' }] }, signal);
  const described = await itemOf(acceptedKey('F'));
  expect(acceptedOf(described)).toEqual({ head, repeats: [], whole: true });
  expect(described).toMatchObject({ expiresAtSeconds: in30DaysSeconds });
  expect(recipientsOf(await itemOf(recipientsKey('F', 0)))).toEqual([
    [0, '1'],
    [1, '2'],
  ]);
});

test.each([
  ['commit', () => store.commit('E', AbortSignal.abort())],
  ['withdrawal', () => store.withdraw('E', AbortSignal.abort())],
  ['description', () => store.describe({ head: makeJobHead(), firstIndex: 0, recipients: [] }, AbortSignal.abort())],
])('a %s that was given up is not waited for', async (_, write) => {
  await expect(write()).rejects.toThrow('aborted');
});
