import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { backlogKey, laterKey, laterThanMs, newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import type { BacklogLook } from '../../../../lib/messages/fan-out/backlog-look.ts';
import { backlogStore } from '../../../../lib/messages/fan-out/dispatch-backlog-store.ts';
import { dispatchRoundsStore } from '../../../../lib/messages/fan-out/dispatch-rounds-store.ts';
import { makeDispatch, makeDispatchHead, makeRecipients } from '../../../support/made-dispatches.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

/** The look finds each dispatch of the fan-out that is accepted and not released (D25, D56, R54). */

const nowMs = 1_800_000_000_000;
const hourMs = 3_600_000;
const client = localDocumentClient();
let table: string;
beforeEach(async () => {
  table = await freshTable('messages');
});

const dispatches = () => acceptedDispatchesStore(tableOf(client, table, { nowMs: () => nowMs }));
const backlog = () => backlogStore(tableOf(client, table));

async function enter(head: Partial<DispatchHead>): Promise<DispatchHead> {
  const full = makeDispatchHead({ acceptedAtMs: nowMs, ...head });
  await client.send(new PutCommand({ TableName: table, Item: newEntry(full) }));
  return full;
}

async function due(atMs: number): Promise<BacklogLook[]> {
  const found: BacklogLook[] = [];
  for await (const page of backlog().due(atMs)) found.push(...page);
  return found.toSorted(({ entry: one }, { entry: other }) => (one.dispatchId < other.dispatchId ? -1 : 1));
}
const idsDue = async (atMs: number) => (await due(atMs)).map(({ entry }) => entry.dispatchId);
const laterBy = (ms: number) => ({ when: { asked: {}, fromMs: nowMs + ms } });

test('a dispatch is found from its storing on, with its item as it stands, until its entry is removed', async () => {
  const { head, ...rest } = makeDispatch(makeRecipients(11), { dispatchId: 'J', acceptedAtMs: nowMs });
  await dispatches().store({ head, ...rest }, AbortSignal.timeout(5_000));
  const [stored] = await due(nowMs);
  expect([stored?.entry, stored?.item]).toEqual([expect.objectContaining({ dispatchId: 'J' }), undefined]);
  await dispatches().begin(head);
  const unused = () => Promise.reject(new Error('not asked here'));
  const rounds = dispatchRoundsStore(tableOf(client, table), { find: unused, recipientsFrom: unused, list: unused });
  const run = { dispatchId: 'J', round: 0, owner: 'a' };
  await rounds.take(run, nowMs);
  await rounds.handOver(run, { queued: 10, ofStretches: [10, 0] }, { round: 1, dueMs: nowMs + 900_000 });
  const [begun] = await due(nowMs);
  expect(begun?.item).toMatchObject({ head: JSON.stringify(head), round: { round: 1, dueMs: nowMs + 900_000 } });
  if (begun !== undefined) await backlog().remove(begun.entry);
  expect(await due(nowMs)).toEqual([]);
});

test('of hundreds of numbers and dispatches, each is found once', async () => {
  const heads = Array.from({ length: 250 }, (_, at) => {
    return enter({ dispatchId: `J${String(at).padStart(3, '0')}`, phoneNumberId: String(at % 40) });
  });
  const expected = (await Promise.all(heads)).map(({ dispatchId }) => dispatchId);
  expect(await idsDue(nowMs)).toEqual(expected);
  expect(new Set((await Promise.all(heads)).map((head) => backlogKey(head).pk)).size).toBeGreaterThan(10);
});

test('what is due later is moved a quarter of an hour before its time, and found at its time', async () => {
  await enter({ dispatchId: 'SOON', ...laterBy(laterThanMs) });
  await enter({ dispatchId: 'HOURS', ...laterBy(5 * hourMs) });
  await enter({ dispatchId: 'TOMORROW', ...laterBy(30 * hourMs) });
  expect(await idsDue(nowMs)).toEqual([]);
  expect(await idsDue(nowMs + laterThanMs)).toEqual(['SOON']);
  expect(await idsDue(nowMs + 5 * hourMs - laterThanMs)).toEqual(['SOON']);
  expect(await idsDue(nowMs + 5 * hourMs)).toEqual(['HOURS', 'SOON']);
  expect(await idsDue(nowMs + 5 * hourMs + 1)).toEqual(['HOURS', 'SOON']);
  // No look was there for a day.
  expect(await idsDue(nowMs + 31 * hourMs)).toEqual(['HOURS', 'SOON', 'TOMORROW']);
});

test('an entry that comes into its hour late, after looks at that hour, is moved too', async () => {
  await due(nowMs + 2 * hourMs);
  const atMs = nowMs + 2 * hourMs;
  await enter({ dispatchId: 'LATE', acceptedAtMs: atMs, when: { asked: {}, fromMs: atMs + laterThanMs + 1 } });
  await due(atMs + 60_000);
  expect(await idsDue(atMs + laterThanMs + 1)).toEqual(['LATE']);
});

test('an entry is in the backlog before it leaves the later ones: a look that dies loses none', async () => {
  const head = await enter({ dispatchId: 'J', ...laterBy(2 * hourMs) });
  // The look had put it into the backlog, and died.
  const entry = newEntry(head);
  await client.send(new PutCommand({ TableName: table, Item: { ...entry, ...backlogKey(entry) } }));
  expect(await idsDue(nowMs + 2 * hourMs)).toEqual(['J']);
  await backlog().remove(entry);
  expect(await idsDue(nowMs + 2 * hourMs)).toEqual([]);
  expect(laterKey(entry)).toMatchObject({ pk: entry.pk, sk: entry.sk });
});
