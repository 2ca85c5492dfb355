import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { acceptanceStore } from '../../../../lib/messages/accept/acceptance-store.ts';
import { acceptedOf, recipientsOf } from '../../../../lib/messages/accept/accepted-job.ts';
import { jobStore } from '../../../../lib/messages/fan-out/job-store.ts';
import { acceptedKey, jobKey, jobsOfDayPartition, recipientsKey } from '../../../../lib/messages/items.ts';
import { jobStateStore } from '../../../../lib/messages/job-state-store.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { makeJobHead } from '../../../support/send-jobs.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const acceptedAtMs = 1_700_000_000_001;
const in30DaysSeconds = 1_700_000_001 + 30 * 86_400;
const client = localDocumentClient();
const table = await freshTable('messages');

test('a job and its place in the day are there for 30 days from its acceptance, in seconds (R23)', async () => {
  const head = makeJobHead({ jobId: 'A', acceptedAtMs });
  await jobStore(client, table).begin(head, 1);
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: jobKey('A') }));
  expect(Item).toMatchObject({ expiresAtSeconds: in30DaysSeconds, progress: {} });
  const { Items } = await client.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'pk = :day',
      ExpressionAttributeValues: { ':day': jobsOfDayPartition(head.did, acceptedAtMs) },
    }),
  );
  expect(Items).toMatchObject([{ jobId: 'A', expiresAtSeconds: in30DaysSeconds }]);
});

test('a commit counts from the moment in which it is written, however late reads may be (D25)', async () => {
  const lagging = localDocumentClient();
  lagReads(lagging);
  expect(await jobStore(lagging, table).isCommitted('B')).toBe(false);
  await acceptanceStore(client, table, () => acceptedAtMs).commit('B', new AbortController().signal);
  expect(await jobStore(lagging, table).isCommitted('B')).toBe(true);
});

test('what is queued of a part is known to who goes on with it, and of no other', async () => {
  const jobs = jobStore(client, table);
  const head = makeJobHead({ jobId: 'C', acceptedAtMs });
  await jobs.begin(head, 1);
  const run = { jobId: 'C', part: 1, round: 0, owner: 'run' };
  await jobs.take(run, acceptedAtMs);
  await jobs.checkpoint(run, 500, acceptedAtMs);
  expect([await jobs.begin(head, 1), await jobs.begin(head, 2)]).toEqual([500, 0]);
});

describe('what the report of a job opens with (D40)', () => {
  const recipients = [{ to: '1' }, { to: '2' }];
  const half = { number: 1, of: 2 };
  const described = async (jobId: string) =>
    (await client.send(new GetCommand({ TableName: table, Key: acceptedKey(jobId), ConsistentRead: true }))).Item;
  const recipientsFrom = async (jobId: string, firstIndex: number) =>
    (await client.send(new GetCommand({ TableName: table, Key: recipientsKey(jobId, firstIndex) }))).Item;

  test('is written when the acceptance has not', async () => {
    const job = { head: makeJobHead({ jobId: 'D', acceptedAtMs }), firstIndex: 0, recipients };
    await jobStore(client, table).describe(job);
    expect(acceptedOf(await described('D'))).toMatchObject({ head: job.head, whole: true });
    expect(recipientsOf(await recipientsFrom('D', 0))).toEqual([
      [0, '1'],
      [1, '2'],
    ]);
  });

  test('is left to the acceptance when that has written it', async () => {
    const head = makeJobHead({ jobId: 'E', acceptedAtMs });
    await acceptanceStore(client, table, () => acceptedAtMs).describe(
      { head, firstIndex: 0, recipients },
      new AbortController().signal,
    );
    const before = await described('E');
    await jobStore(client, table).describe({ head, firstIndex: 0, recipients, part: half });
    expect(await described('E')).toEqual(before);
  });

  test('is written by each part for itself, when another has written its own', async () => {
    const head = makeJobHead({ jobId: 'F', acceptedAtMs });
    const jobs = jobStore(client, table);
    await jobs.describe({ head, firstIndex: 0, recipients, part: half });
    await jobs.describe({ head, firstIndex: 2, recipients: [{ to: '3' }], part: { number: 2, of: 2 } });
    expect(recipientsOf(await recipientsFrom('F', 2))).toEqual([[2, '3']]);
    expect(acceptedOf(await described('F')).whole).toBe(false);
  });
});

test('a stop that comes while a run works is told to it with each wave and each round (D46, D53)', async () => {
  const jobs = jobStore(client, table);
  const head = makeJobHead({ jobId: 'G', acceptedAtMs });
  const stop = { state: 'failed', code: 'cancelled', atMs: acceptedAtMs } as const;
  const run = { jobId: 'G', part: 1, round: 0, owner: 'run' };
  await jobs.begin(head, 1);
  await jobs.take(run, acceptedAtMs);
  await jobStateStore(client, table).stop(head, stop);
  expect(await jobs.checkpoint(run, 500, acceptedAtMs)).toEqual({ stop });
  expect(await jobs.take(run, acceptedAtMs)).toEqual({ kind: 'taken', queued: 500, state: { stop } });
});
