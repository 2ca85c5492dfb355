import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import { acceptedJobsStore } from '../../../lib/messages/accept/accepted-jobs-store.ts';
import { jobKey, jobMemorySeconds } from '../../../lib/messages/items.ts';
import { cancelled, type JobState } from '../../../lib/messages/job-state.ts';
import { jobStateStore } from '../../../lib/messages/job-state-store.ts';
import { makeJobHead } from '../../support/send-jobs.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

let table: string;
const client = localDocumentClient();

beforeEach(async () => {
  table = await freshTable('messages');
});

const jobs = () => acceptedJobsStore(client, table, () => 8_000);
const states = () => jobStateStore(client, table, async () => undefined);
const head = makeJobHead({ jobId: 'J', acceptedAtMs: 5_000 });
const parked = { code: 'template_paused', scope: 'template', sinceMs: 1_000 } as const;

async function begin(): Promise<void> {
  await jobs().begin({ head, repeats: [] });
}

/** Beside whether it has begun. */
async function stateOf(jobId: string) {
  const state = (await states().of([jobId])).get(jobId);
  if (state === undefined) return undefined;
  const { begun: _, ...rest } = state;
  return rest;
}

test('a job is stopped once: the first stop stays, repeated it is the same one', async () => {
  await begin();
  expect(await states().stop(head, cancelled(7_000))).toBe(true);
  expect(await states().stop(head, cancelled(7_000))).toBe(true);
  expect(await states().stop(head, { state: 'expired', code: 'template_paused', atMs: 9_000 })).toBe(false);
  expect(await stateOf('J')).toEqual({ stop: { state: 'failed', code: 'cancelled', atMs: 7_000 } });
});

test('a job is stopped before the fan-out begins it; TTL removes it with its claims, and the fan-out reads the stop', async () => {
  await states().stop(head, cancelled(7_000));
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: jobKey('J') }));
  expect(Item?.['expiresAtSeconds']).toBe(5 + jobMemorySeconds);
  await begin();
  expect(await stateOf('J')).toEqual({ stop: cancelled(7_000) });
});

test('a job that was stopped may still be taken back (D25)', async () => {
  await states().stop(head, cancelled(7_000));
  expect(await jobs().withdraw('J')).toBe('withdrawn');
});

test('a job is parked once, only after it has begun, and resumed by the one that saw that very parking (D46)', async () => {
  expect(await states().park('J', parked)).toBe(false);
  await begin();
  expect(await states().park('J', parked)).toBe(true);
  expect(await states().park('J', parked)).toBe(true);
  expect(await states().park('J', { ...parked, sinceMs: 2_000 })).toBe(false);
  expect(await states().resume('J', { ...parked, sinceMs: 2_000 })).toBe(false);
  expect(await stateOf('J')).toEqual({ parked, pausedFromMs: 1_000 });
  expect(await states().resume('J', parked)).toBe(true);
  expect(await states().resume('J', parked)).toBe(false);
  expect(await stateOf('J')).toEqual({ pausedFromMs: 1_000 });
});

test('the pause outlasts the end of a waiting, and ends with the message that was taken (D46)', async () => {
  await begin();
  await states().park('J', parked);
  await states().resume('J', parked);
  await states().park('J', { ...parked, sinceMs: 9_000 });
  expect(await stateOf('J')).toEqual({ parked: { ...parked, sinceMs: 9_000 }, pausedFromMs: 1_000 });
  // While the job is parked its pause goes on: no watcher would tell that it is over.
  expect(await states().endPause('J')).toBe(false);
  await states().goOn('J', 1_000);
  expect(await stateOf('J')).toEqual({ parked: { ...parked, sinceMs: 9_000 }, pausedFromMs: 1_000 });
  await states().resume('J', { ...parked, sinceMs: 9_000 });
  expect([await states().endPause('J'), await states().endPause('J')]).toEqual([true, true]);
  await states().park('J', { ...parked, sinceMs: 9_000 });
  await states().goOn('J', 9_000);
  await states().goOn('J', 9_000);
  expect((await stateOf('J'))?.parked).toEqual({ ...parked, sinceMs: 9_000, goesOn: true });
  await states().resume('J', { ...parked, sinceMs: 9_000, goesOn: true });
  expect(await stateOf('J')).toEqual({});
  await states().endPause('none');
  expect(await stateOf('none')).toBeUndefined();
});

test('a stop ends the waiting, and what is stopped is parked no more', async () => {
  await begin();
  await states().park('J', parked);
  await states().stop(head, cancelled(7_000));
  expect(await stateOf('J')).toEqual({ stop: cancelled(7_000) });
  expect(await states().park('J', { ...parked, sinceMs: 8_000 })).toBe(false);
});

test('states of many jobs are one answer; one that has only begun says no more', async () => {
  await client.send(new PutCommand({ TableName: table, Item: { ...jobKey('BEGUN'), head: '{}', queued: 3 } }));
  await states().stop({ jobId: 'A', acceptedAtMs: 0 }, { ...cancelled(1), reason: 'why' });
  expect(await states().of(['A', 'BEGUN', 'A', 'none'])).toEqual(
    new Map<string, JobState>([
      ['A', { stop: { ...cancelled(1), reason: 'why' } }],
      ['BEGUN', { begun: true }],
    ]),
  );
});
