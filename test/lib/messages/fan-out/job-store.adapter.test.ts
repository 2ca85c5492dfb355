import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { acceptanceStore } from '../../../../lib/messages/accept/acceptance-store.ts';
import { jobStore } from '../../../../lib/messages/fan-out/job-store.ts';
import { jobKey, jobsOfDayPartition } from '../../../../lib/messages/items.ts';
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
