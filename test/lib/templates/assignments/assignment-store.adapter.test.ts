import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { assignmentStore } from '../../../../lib/templates/assignments/assignment-store.ts';
import { addPairs, type Pair, removePairs, replacePairs } from '../../../../lib/templates/assignments/pairs.ts';
import type { RowName } from '../../../../lib/templates/model/document.ts';
import { rowKey } from '../../../../lib/templates/model/items.ts';
import { documentsText, type TemplateRow } from '../../../../lib/templates/model/row.ts';
import { rowStore } from '../../../../lib/templates/model/row-store.ts';
import { templateKey } from '../../../../lib/templates/model/template-key.ts';
import { templateStore } from '../../../../lib/templates/model/template-store.ts';
import { type DynamoFault, injectFaults } from '../../../support/dynamo-faults.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { makeTemplate } from '../../../support/templates.ts';

const wabaId = '200000000000001';
const documentClient = localDocumentClient();
let table: string;
let count = 0;

beforeAll(async () => {
  table = await freshTable('templates');
});

const pair = (channelId: number, campaignId = 10): Pair => ({ channelId, campaignId });
const rows = () => rowStore(documentClient, table);
const store = () => assignmentStore(documentClient, table, async () => {});
const templates = () => templateStore(documentClient, table, async () => {});
const itemOf = async (name: RowName) =>
  (await documentClient.send(new GetCommand({ TableName: table, Key: rowKey(name.clientId, name.templateKey) }))).Item;

/** Stores an unassigned template of clients 1001 and 1002. */
async function newRow(): Promise<{
  row: TemplateRow;
  read(clientId?: number): Promise<TemplateRow>;
  synchronize(): Promise<void>;
}> {
  count += 1;
  const template = makeTemplate({ name: `t_${count}` });
  const key = templateKey({ ...template, wabaId });
  let readAtMs = 10;
  const synchronize = async () => {
    readAtMs += 1;
    const changed = { ...template, status: `S${readAtMs}` };
    await templates().refresh({ wabaId, clientIds: [1001, 1002] }, changed, readAtMs);
  };
  const read = async (clientId = 1001) => {
    const name = { clientId, templateKey: key };
    const found = (await rows().findRows([name]))(name);
    if (found === undefined) throw new Error('no row');
    return found;
  };
  await templates().refresh({ wabaId, clientIds: [1001, 1002] }, template, readAtMs);
  return { row: await read(), read, synchronize };
}

function faultyStore(faultOf: (operation: string, attempt: number) => DynamoFault | undefined) {
  const client = localDocumentClient();
  const attempts = injectFaults(client, faultOf);
  const pauses: number[] = [];
  const faulty = assignmentStore(client, table, async (attempt) => {
    pauses.push(attempt);
  });
  return { store: faulty, attempts, pauses };
}
const conflict = () => new TransactionConflictException({ message: 'conflict', $metadata: {} });

test('a change is one write, touches the documents only, and another client’s row not at all', async () => {
  const { row, read } = await newRow();
  await documentClient.send(
    new UpdateCommand({
      TableName: table,
      Key: rowKey(1001, row.templateKey),
      UpdateExpression: 'SET createdBy = :who, a = :off',
      ExpressionAttributeValues: { ':who': 'supervisor1001', ':off': false },
    }),
  );
  const [before, theirs] = [await itemOf(row), await itemOf({ ...row, clientId: 1002 })];
  const counted = faultyStore(() => undefined);
  const changed = await counted.store.update(row, (current) => addPairs(current, [pair(501), pair(502)]));
  expect(Object.fromEntries(counted.attempts)).toEqual({ UpdateItemCommand: 1 });
  expect(await itemOf(row)).toEqual({ ...before, d: '0:501:10 1:502:10', k: 2 });
  expect(await itemOf({ ...row, clientId: 1002 })).toEqual(theirs);
  expect(changed?.documents).toEqual((await read()).documents);
});

test('nothing to change is no write', async () => {
  const { row } = await newRow();
  const counted = faultyStore(() => undefined);
  expect(await counted.store.update(row, removePairs)).toEqual(row);
  expect(counted.attempts.size).toBe(0);
});

test('twenty calls that race are each carried out in full, from what the others left', async () => {
  const { row, read } = await newRow();
  const added = Array.from({ length: 20 }, (_, index) => [pair(500 + index, 1), pair(500 + index, 2)]);
  const racing = assignmentStore(documentClient, table);
  const results = await Promise.all(added.map((pairs) => racing.update(row, (current) => addPairs(current, pairs))));
  const end = await read();
  expect(end.documents).toHaveLength(40);
  expect(end.nextSequence).toBe(40);
  expect(new Set(end.documents.map(({ id }) => id)).size).toBe(40);
  for (const [index, result] of results.entries()) {
    for (const wanted of added[index] ?? []) {
      const answered = result?.documents.find((document) => JSON.stringify(document.pair) === JSON.stringify(wanted));
      expect(end.documents).toContainEqual(answered);
    }
  }
});

test('replacing races: the end is one of the lists, whole, never a mixture', async () => {
  const lists = [[pair(1), pair(2)], [pair(3), pair(4), pair(5)], [pair(6)], []];
  const ends: string[] = [];
  for (let round = 0; round < 8; round += 1) {
    const { row, read } = await newRow();
    const racing = assignmentStore(documentClient, table);
    await Promise.all(lists.map((pairs) => racing.update(row, (current) => replacePairs(current, pairs))));
    const { documents } = await read();
    ends.push(documents.flatMap((document) => document.pair?.channelId ?? []).join());
  }
  for (const end of ends) expect(['1,2', '3,4,5', '6', '']).toContain(end);
});

test('assigning and synchronizing at the same time: neither loses anything', async () => {
  const { row, read, synchronize } = await newRow();
  const racing = assignmentStore(documentClient, table);
  await Promise.all([
    ...[1, 2, 3, 4].map((channelId) => racing.update(row, (current) => addPairs(current, [pair(channelId)]))),
    ...[1002, 1002].map(async (clientId) =>
      racing.update(await read(clientId), (current) => addPairs(current, [pair(9)])),
    ),
    synchronize(),
    synchronize(),
  ]);
  await synchronize();
  const end = await read();
  expect(end.documents.map((document) => document.pair?.channelId).sort()).toEqual([1, 2, 3, 4]);
  expect(end.status).toBe('S13');
  expect(documentsText(await read(1002))).toBe('0:9:10');
});

test('a number once used is not used again, although the documents look as they were read', async () => {
  const { row, read } = await newRow();
  const first = await store().update(row, (current) => addPairs(current, [pair(1)]));
  if (first === undefined) throw new Error('not written');
  const added = await store().update(first, (current) => addPairs(current, [pair(2)]));
  await store().update(await read(), (current) => replacePairs(current, [pair(1)]));
  // The row equals `first` again, except for the next number.
  const late = await store().update(first, (current) => addPairs(current, [pair(3)]));
  expect(late?.documents[1]?.id).not.toBe(added?.documents[1]?.id);
  expect(await read()).toEqual(late);
});

test('a row that a transaction holds is tried again after a pause; one that stays held is an error (R32)', async () => {
  const { row, read } = await newRow();
  const faulty = faultyStore((_, attempt) => (attempt <= 3 ? { kind: 'throw', error: conflict() } : undefined));
  await faulty.store.update(row, (current) => addPairs(current, [pair(1)]));
  expect(faulty.pauses).toEqual([1, 2, 3]);
  expect(documentsText(await read())).toBe('0:1:10');
  const held = faultyStore(() => ({ kind: 'throw', error: conflict() }));
  await expect(held.store.update(row, (current) => addPairs(current, [pair(2)]))).rejects.toThrow('stayed contended');
  expect(held.pauses).toHaveLength(39);
  expect(documentsText(await read())).toBe('0:1:10');
});

test('any other error is an error at once', async () => {
  const { row } = await newRow();
  const faulty = faultyStore(() => ({ kind: 'throw', error: new Error('broken') }));
  await expect(faulty.store.update(row, (current) => addPairs(current, [pair(1)]))).rejects.toThrow('broken');
  expect(faulty.pauses).toEqual([]);
});

test('a lost reply: the change is there once, and the answer is that of a change carried out', async () => {
  const { row, read } = await newRow();
  const faulty = faultyStore((_, attempt) => (attempt === 1 ? { kind: 'lose_reply' } : undefined));
  const changed = await faulty.store.update(row, (current) => addPairs(current, [pair(1), pair(2)]));
  expect(documentsText(await read())).toBe('0:1:10 1:2:10');
  expect(changed).toEqual(await read());
});

test('a template deleted in between is not assigned', async () => {
  const { row, read } = await newRow();
  await templates().writeUpstream([
    { kind: 'gone', templateKey: row.templateKey, clientIds: [1001, 1002], readAtMs: 50 },
  ]);
  expect(await store().update(row, (current) => addPairs(current, [pair(1)]))).toBeUndefined();
  expect(documentsText(await read())).toBe('0');
  const unknown = { ...row, clientId: 7777 };
  expect(await store().update(unknown, (current) => addPairs(current, [pair(1)]))).toBeUndefined();
  expect(await itemOf(unknown)).toBeUndefined();
});
