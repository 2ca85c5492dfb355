import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import type { ItemKey } from '../../../../lib/aws/item-key.ts';
import { acceptanceStore } from '../../../../lib/messages/accept/acceptance-store.ts';
import { acceptedOf, recipientsOf } from '../../../../lib/messages/accept/accepted-job.ts';
import { jobStore } from '../../../../lib/messages/fan-out/job-store.ts';
import { acceptedKey, commitKey, jobKey, recipientsKey } from '../../../../lib/messages/items.ts';
import { cancelled } from '../../../../lib/messages/job-state.ts';
import { jobStateStore } from '../../../../lib/messages/job-state-store.ts';
import { dispatchesStore } from '../../../../lib/messages/reports/dispatches-store.ts';
import { reportStore } from '../../../../lib/messages/outcomes/report-store.ts';
import { headOfStraight } from '../../../../lib/messages/straight-message.ts';
import { dispatchMessage } from '../../../faults/scenario-job.ts';
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

const straight = dispatchMessage(0, {
  ...{ straight: true, alone: true, jobId: '01JD0000000000000000000001', acceptedAtMs: nowMs },
});

test('a straight message begins its job, which is found by id and in the list of its client, for 30 days (D25, D40)', async () => {
  const { jobId, clientId, about } = straight;
  expect(await store.begin(straight, signal)).toBe('begun');
  expect(await store.begin(straight)).toBe('begun');
  expect(await itemOf(jobKey(jobId))).toMatchObject({ to: '5491100000000', expiresAtSeconds: in30DaysSeconds });
  expect(await store.withdraw(jobId)).toBe('begun');
  const report = reportStore({ client, table, nowMs: () => nowMs });
  expect(await report.findDescribed(jobId)).toMatchObject({
    head: headOfStraight(straight),
    repeats: [],
    recipients: new Map([[0, '5491100000000']]),
  });
  const list = dispatchesStore(client, table, () => nowMs);
  const question = { clientId, did: about.did, fromMs: undefined, toMs: undefined };
  const { accepted } = await list.listAccepted(question, { after: undefined, limit: 10 });
  expect(accepted).toMatchObject([{ jobId, total: 1, acceptedAtMs: nowMs, templateName: 'order_update' }]);
  expect(await list.notWithdrawn(accepted)).toHaveLength(1);
  expect((await jobStateStore(client, table).of([jobId])).get(jobId)).toEqual({ begun: true });
});

test('a job that was taken back is not begun, and is in no list; one that is stopped stays so', async () => {
  const late = { ...straight, jobId: '01JD0000000000000000000002', clientId: 1002 };
  expect(await store.withdraw(late.jobId)).toBe('withdrawn');
  expect(await store.begin(late)).toBe('withdrawn');
  expect(await reportStore({ client, table, nowMs: () => nowMs }).findDescribed(late.jobId)).toBeUndefined();
  const list = dispatchesStore(client, table, () => nowMs);
  const question = { clientId: 1002, did: late.about.did, fromMs: undefined, toMs: undefined };
  const { accepted } = await list.listAccepted(question, { after: undefined, limit: 10 });
  expect(await list.notWithdrawn(accepted)).toEqual([]);

  const stopped = { ...straight, jobId: '01JD0000000000000000000003' };
  const states = jobStateStore(client, table);
  await store.begin(stopped);
  await states.stop(stopped, cancelled(nowMs));
  await store.begin(stopped);
  expect((await states.of([stopped.jobId])).get(stopped.jobId)).toEqual({ begun: true, stop: cancelled(nowMs) });
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
  ['beginning', () => store.begin(straight, AbortSignal.abort())],
  ['withdrawal', () => store.withdraw('E', AbortSignal.abort())],
  ['description', () => store.describe({ head: makeJobHead(), firstIndex: 0, recipients: [] }, AbortSignal.abort())],
])('a %s that was given up is not waited for', async (_, write) => {
  await expect(write()).rejects.toThrow('aborted');
});
