import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { backlogKey, laterKey, laterThanMs, newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { backlogStore } from '../../../../lib/messages/sender/backlog-store.ts';
import { partMoved, withNews } from '../../../../lib/messages/sender/entry-progress.ts';
import type { DueEntry } from '../../../../lib/messages/sender/sweep.ts';
import { makeDispatch, makeDispatchHead, makeRecipients } from '../../../support/made-dispatches.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

/** A sweep finds each dispatch that is accepted and not over, at its time (D25, D56, R54). */

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

async function due(atMs: number): Promise<DueEntry[]> {
  const found: DueEntry[] = [];
  for await (const { entries } of backlog().due(atMs)) found.push(...entries);
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
  const [begun] = await due(nowMs);
  expect(begun?.item).toMatchObject({ head: JSON.stringify(head) });
  if (begun !== undefined) await backlog().remove(begun.entry);
  expect(await due(nowMs)).toEqual([]);
});

test('of hundreds of numbers and dispatches, each is found once, and those of a number together', async () => {
  const heads = Array.from({ length: 250 }, (_, at) => {
    return enter({ dispatchId: `J${String(at).padStart(3, '0')}`, phoneNumberId: String(at % 40) });
  });
  const expected = (await Promise.all(heads)).map(({ dispatchId }) => dispatchId);
  expect(await idsDue(nowMs)).toEqual(expected);
  expect(new Set((await Promise.all(heads)).map((head) => backlogKey(head).pk)).size).toBeGreaterThan(10);
  const numbers: string[] = [];
  for await (const { entries } of backlog().due(nowMs)) {
    numbers.push(...new Set(entries.map(({ entry }) => entry.phoneNumberId)));
  }
  expect(numbers.length).toBe(40);
});

test('what its senders have moved to later is not due, and what got news is', async () => {
  const head = await enter({ dispatchId: 'J' });
  const entry = newEntry(head);
  const progress = { floor: 3, dueMs: nowMs + hourMs };
  const moved = partMoved({ part: { part: 0, of: 1 }, progress, seenNewsMs: undefined });
  expect(await backlog().change(entry, moved)).toMatchObject({ parts: [progress] });
  expect([await idsDue(nowMs + hourMs - 1), await idsDue(nowMs + hourMs)]).toEqual([[], ['J']]);
  await backlog().bring(head, withNews(nowMs));
  expect(await idsDue(nowMs)).toEqual(['J']);
});

test('an entry that cannot be read is named, and others are found', async () => {
  const head = await enter({ dispatchId: 'BROKEN' });
  const Item = { ...newEntry(head), notBeforeMs: 'soon' };
  await client.send(new PutCommand({ TableName: table, Item }));
  await enter({ dispatchId: 'J' });
  const unreadable: string[] = [];
  for await (const each of backlog().due(nowMs)) unreadable.push(...each.unreadable);
  expect([unreadable, await idsDue(nowMs)]).toEqual([[`${head.phoneNumberId}#BROKEN`], ['J']]);
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
  // No sweep was there for a day.
  expect(await idsDue(nowMs + 31 * hourMs)).toEqual(['HOURS', 'SOON', 'TOMORROW']);
});

test('an entry that comes into its hour late, after sweeps of that hour, is moved too', async () => {
  await due(nowMs + 2 * hourMs);
  const atMs = nowMs + 2 * hourMs;
  await enter({ dispatchId: 'LATE', acceptedAtMs: atMs, when: { asked: {}, fromMs: atMs + laterThanMs + 1 } });
  await due(atMs + 60_000);
  expect(await idsDue(atMs + laterThanMs + 1)).toEqual(['LATE']);
});

test('a move that died after its first write takes nothing off an entry that a sender has written meanwhile', async () => {
  const head = await enter({ dispatchId: 'J', ...laterBy(2 * hourMs) });
  const entry = newEntry(head);
  // The sweep had put it into the backlog, and died; a sender has moved its part since.
  await client.send(new PutCommand({ TableName: table, Item: { ...entry, ...backlogKey(entry) } }));
  const progress = { floor: 7, dueMs: nowMs };
  await backlog().change(entry, partMoved({ part: { part: 0, of: 1 }, progress, seenNewsMs: undefined }));
  expect(await idsDue(nowMs + 2 * hourMs)).toEqual(['J']);
  const found = await backlog().of(head.phoneNumberId);
  expect(found).toMatchObject([{ dispatchId: 'J', parts: [progress], version: 1 }]);
  const later = new GetCommand({ TableName: table, Key: laterKey(entry), ConsistentRead: true });
  expect((await client.send(later)).Item).toBeUndefined();
});
