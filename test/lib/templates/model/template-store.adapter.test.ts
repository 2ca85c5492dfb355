import { randomBytes } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { factKey, rowKey } from '../../../../lib/templates/model/items.ts';
import { encodeDocuments } from '../../../../lib/templates/model/row.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { templateKey } from '../../../../lib/templates/model/template-key.ts';
import { templateStore } from '../../../../lib/templates/model/template-store.ts';
import type { UpstreamWrite } from '../../../../lib/templates/model/upstream-writes.ts';
import { type DynamoFault, injectFaults } from '../../../support/dynamo-faults.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { makeTemplate } from '../../../support/templates.ts';

const wabaId = '200000000000001';
const documentClient = localDocumentClient();
let table: string;
beforeAll(async () => {
  table = await freshTable('templates');
});

let lastName = 0;
/** Only one test uses the template. */
function newTemplate(overrides: Partial<PlatformTemplate> = {}): PlatformTemplate {
  lastName += 1;
  return makeTemplate({ name: `template_${lastName}`, ...overrides });
}

const noPause = async () => undefined;
const store = () => templateStore(documentClient, table, noPause);
const keyFor = (template: PlatformTemplate) => templateKey({ ...template, wabaId });
const present = (template: PlatformTemplate, readAtMs = 10, clientIds = [1001, 1002]): UpstreamWrite => ({
  kind: 'present',
  wabaId,
  template,
  clientIds,
  readAtMs,
});
const gone = (template: PlatformTemplate, readAtMs: number): UpstreamWrite => ({
  kind: 'gone',
  templateKey: keyFor(template),
  clientIds: [1001, 1002],
  readAtMs,
});
const find = (template: PlatformTemplate, clientId = 1001) => store().find({ ...template, clientId, wabaId });

/** Makes a store whose client meets these faults, and records its attempts. */
function faultyStore(faultOf: (operation: string, attempt: number) => DynamoFault | undefined) {
  const client = localDocumentClient();
  const attempts = injectFaults(client, faultOf);
  const pauses: number[] = [];
  const pause = async (attempt: number) => {
    pauses.push(attempt);
  };
  return { store: templateStore(client, table, pause), attempts, pauses };
}

function cancelled(code: string): TransactionCanceledException {
  return new TransactionCanceledException({
    message: 'cancelled',
    $metadata: {},
    CancellationReasons: [{ Code: 'None' }, { Code: code }],
  });
}

test('a new template is stored once and given to every client, active and unassigned (D13)', async () => {
  const template = newTemplate();
  expect(await find(template)).toBeUndefined();
  await store().refresh({ wabaId, clientIds: [1001, 1002] }, template, 10);
  for (const clientId of [1001, 1002]) {
    const found = await find(template, clientId);
    expect(found?.fact).toEqual({ wabaId, template, deleted: false, readAtMs: 10, sinceMs: 10 });
    expect(found?.client).toMatchObject({ clientId, active: true, wabaId });
    expect(found?.client?.documents).toEqual([{ id: `${keyFor(template)}-${clientId.toString(36)}-0` }]);
  }
  expect(await find(template, 1003)).toEqual({ fact: { wabaId, template, deleted: false, readAtMs: 10, sinceMs: 10 } });
});

test('what belongs to the client is never touched by what the platform says', async () => {
  const template = newTemplate();
  await store().writeUpstream([present(template)]);
  await documentClient.send(
    new UpdateCommand({
      TableName: table,
      Key: rowKey(1001, keyFor(template)),
      UpdateExpression: 'SET a = :off, d = :documents, k = :next, createdBy = :who',
      ExpressionAttributeValues: {
        ':off': false,
        ':documents': encodeDocuments([{ sequence: 3, pair: { channelId: 501, campaignId: 10 } }]),
        ':next': 4,
        ':who': 'supervisor1001',
      },
    }),
  );
  const changed = { ...template, status: 'PAUSED', quality_score: { score: 'RED' } };
  await store().writeUpstream([present(changed, 11)]);
  await store().writeUpstream([gone(template, 12)]);
  await store().writeUpstream([present(changed, 13)]);
  const { Item } = await documentClient.send(new GetCommand({ TableName: table, Key: rowKey(1001, keyFor(template)) }));
  expect(Item).toMatchObject({ a: false, d: '3:501:10', k: 4, createdBy: 'supervisor1001', s: 'U', q: 'R' });
  expect((await find(template, 1002))?.client).toMatchObject({ active: true, status: 'PAUSED' });
});

test('gone and back again: marked, never erased', async () => {
  const template = newTemplate();
  const own = async () => (await store().rowsOf(1001)).find((row) => row.name === template.name);
  await store().writeUpstream([present(template)]);
  await store().writeUpstream([gone(template, 11)]);
  expect((await find(template))?.fact).toEqual({ wabaId, template, deleted: true, readAtMs: 11, sinceMs: 11 });
  expect(await own()).toMatchObject({ deleted: true, status: 'APPROVED' });
  await store().writeUpstream([present(template, 12)]);
  expect((await find(template))?.fact.deleted).toBe(false);
  expect(await own()).toMatchObject({ deleted: false });
});

test('read again with its status as it was, a template keeps the time of it; not when another one came in between', async () => {
  const template = newTemplate();
  const paused = { ...template, status: 'PAUSED' };
  const read = async (reading: PlatformTemplate, readAtMs: number, unchangedSinceMs?: number) => {
    await store().refresh({ wabaId, clientIds: [1001], unchangedSinceMs }, reading, readAtMs);
    return (await find(template))?.fact;
  };
  await read(template, 10);
  expect(await read(template, 11, 10)).toMatchObject({ readAtMs: 11, sinceMs: 10 });
  expect(await read(paused, 12)).toMatchObject({ readAtMs: 12, sinceMs: 12 });
  // The writer had compared with the row from before the pause.
  expect(await read(template, 13, 10)).toMatchObject({ template, readAtMs: 13, sinceMs: 13 });
});

test('an older reading never replaces a newer one, and does not hold up its neighbours', async () => {
  const [newer, neighbour] = [newTemplate({ status: 'PAUSED' }), newTemplate()];
  await store().writeUpstream([present(newer, 20)]);
  const left = await store().writeUpstream([present({ ...newer, status: 'APPROVED' }, 19), present(neighbour, 19)]);
  expect([...left]).toEqual([keyFor(newer)]);
  expect((await find(newer))?.fact.template.status).toBe('PAUSED');
  expect((await find(neighbour))?.fact.readAtMs).toBe(19);
  expect([...(await store().writeUpstream([gone(newer, 19)]))]).toEqual([keyFor(newer)]);
  expect((await find(newer))?.client).toMatchObject({ deleted: false });
});

test('a smaller fence is refused and nothing of its transaction is written (R26)', async () => {
  const [touched, other] = [newTemplate(), newTemplate()];
  const fenced = (fence: number, lockName = 'sync') => ({ fence: { lockName, fence } });
  await store().writeUpstream([present(touched, 10)], fenced(8));
  await expect(store().writeUpstream([present(other, 11), present(touched, 11)], fenced(7))).rejects.toThrow(
    'lock is held by another run',
  );
  expect(await find(other)).toBeUndefined();
  expect((await find(touched))?.fact.readAtMs).toBe(10);
  await store().writeUpstream([present(touched, 12)], fenced(8));
  // A higher fence does not make an older reading newer.
  expect([...(await store().writeUpstream([present(touched, 11)], fenced(9)))]).toEqual([keyFor(touched)]);
  await store().writeUpstream([present(touched, 13)], fenced(1, 'sync#1001'));
  await store().refresh({ wabaId, clientIds: [1001] }, touched, 14);
  await expect(store().writeUpstream([present(touched, 15)], fenced(7))).rejects.toThrow('lock is held');
  expect((await find(touched))?.fact.readAtMs).toBe(14);
});

test('new templates take one write request for 20 of them', async () => {
  const { store: counted, attempts } = faultyStore(() => undefined);
  const templates = Array.from({ length: 120 }, () => newTemplate());
  await counted.writeUpstream(templates.map((template) => present(template)));
  expect(attempts.get('TransactWriteItemsCommand')).toBe(6);
  expect((await store().rowsOf(1002)).filter((row) => templates.some(({ name }) => name === row.name))).toHaveLength(
    120,
  );
});

test('a WABA of 250 clients: every client gets its row', async () => {
  const template = newTemplate();
  const clientIds = Array.from({ length: 250 }, (_, index) => 5_000 + index);
  await store().writeUpstream([present(template, 10, clientIds), present(newTemplate())]);
  const found = await Promise.all([5_000, 5_098, 5_099, 5_249].map((clientId) => find(template, clientId)));
  expect(found.map((each) => each?.client?.clientId)).toEqual([5_000, 5_098, 5_099, 5_249]);
});

test.each(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])(
  '%s is tried again, after a pause each time (R32)',
  async (code) => {
    const template = newTemplate();
    const faulty = faultyStore((_, attempt) => (attempt <= 3 ? { kind: 'throw', error: cancelled(code) } : undefined));
    await faulty.store.refresh({ wabaId, clientIds: [1001] }, template, 10);
    expect(faulty.pauses).toEqual([1, 2, 3]);
    expect((await find(template))?.client?.clientId).toBe(1001);
  },
);

test('a conflict that does not end is an error, after eight repetitions', async () => {
  const faulty = faultyStore(() => ({ kind: 'throw', error: cancelled('TransactionConflict') }));
  await expect(faulty.store.refresh({ wabaId, clientIds: [1001] }, newTemplate(), 10)).rejects.toThrow('cancelled');
  expect(faulty.pauses).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('another reason of cancellation is an error at once', async () => {
  const faulty = faultyStore(() => ({ kind: 'throw', error: cancelled('ValidationError') }));
  await expect(faulty.store.writeUpstream([present(newTemplate())])).rejects.toThrow('cancelled');
  expect(faulty.pauses).toEqual([]);
});

/** The template exceeds an item's limit however it is packed. */
const oversized = () => newTemplate({ flow: randomBytes(450_000).toString('base64') });

test('an item that the table refuses does not keep its neighbours from being written', async () => {
  const templates = Array.from({ length: 20 }, (_, index) => (index === 7 ? oversized() : newTemplate()));
  const refused: string[] = [];
  const newer = await store().writeUpstream(
    templates.map((template) => present(template)),
    { onRefused: (key) => refused.push(key) },
  );
  expect([refused, newer.size]).toEqual([[keyFor(templates[7] as PlatformTemplate)], 0]);
  const found = await Promise.all(templates.map((template) => find(template, 1002)));
  expect(found.flatMap((each, index) => (each === undefined ? [index] : []))).toEqual([7]);
});

test('neighbours of a refused item still meet newer readings and the fence', async () => {
  const [read, fresh] = [newTemplate(), newTemplate()];
  await store().writeUpstream([present(read, 20)]);
  const writes = [present(oversized()), present(read, 19), present(fresh)];
  const refused: string[] = [];
  expect([...(await store().writeUpstream(writes, { onRefused: (key) => refused.push(key) }))]).toEqual([keyFor(read)]);
  expect(refused).toHaveLength(1);
  await store().writeUpstream([present(fresh, 30)], { fence: { lockName: 'sync', fence: 9 } });
  const late = store().writeUpstream([present(oversized(), 40), present(fresh, 40)], {
    fence: { lockName: 'sync', fence: 8 },
    onRefused: () => undefined,
  });
  await expect(late).rejects.toThrow('lock is held');
});

test('the read for sending does not fail on what cannot be held: the stored copy stays', async () => {
  const template = newTemplate();
  const refresh = (changed: PlatformTemplate, readAtMs: number) =>
    store().refresh({ wabaId, clientIds: [1001] }, changed, readAtMs);
  await refresh(template, 10);
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 3_000; level += 1) deep = { deep };
  await refresh({ ...template, optimization_spec: deep }, 11);
  await refresh({ ...oversized(), name: template.name }, 12);
  expect((await find(template))?.fact).toMatchObject({ template, readAtMs: 10 });
  const faulty = faultyStore(() => ({ kind: 'throw', error: cancelled('ValidationError') }));
  await faulty.store.refresh({ wabaId, clientIds: [1001] }, template, 13);
  expect((await find(template))?.fact.readAtMs).toBe(10);
});

test('a lost reply to a write does no harm', async () => {
  const template = newTemplate();
  const faulty = faultyStore((_, attempt) => (attempt === 1 ? { kind: 'lose_reply' } : undefined));
  expect([...(await faulty.store.writeUpstream([present(template)]))]).toEqual([]);
  expect(faulty.attempts.get('TransactWriteItemsCommand')).toBe(2);
  expect((await find(template))?.client?.documents).toHaveLength(1);
});

test('unprocessed keys are asked for again until all are there (R32)', async () => {
  const templates = Array.from({ length: 10 }, () => newTemplate());
  await store().writeUpstream(templates.map((template) => present(template, 10, [2_001])));
  const rows = await store().rowsOf(2_001);
  const faulty = faultyStore((_, attempt) => (attempt <= 3 ? { kind: 'unprocessed', keep: 2 } : undefined));
  const facts = await faulty.store.factsOf(rows);
  expect(facts.size).toBe(10);
  expect(faulty.pauses).toEqual([1, 2, 3]);
  const hopeless = faultyStore(() => ({ kind: 'unprocessed', keep: 0 }));
  await expect(hopeless.store.factsOf(rows)).rejects.toThrow('10 keys of');
});

test('a fact that does not match its row is read again, strongly; a missing one is an error', async () => {
  const template = newTemplate();
  await store().writeUpstream([present(template, 10, [2_002])]);
  const [row] = await store().rowsOf(2_002);
  if (row === undefined) throw new Error('no row');
  const matching = faultyStore(() => undefined);
  await matching.store.factsOf([row]);
  expect(matching.attempts.get('BatchGetItemCommand')).toBe(1);
  const stale = faultyStore(() => undefined);
  const facts = await stale.store.factsOf([{ ...row, contentHash: 'of a newer one' }]);
  expect(facts.get(row.templateKey)?.template).toEqual(template);
  expect(stale.attempts.get('BatchGetItemCommand')).toBe(2);
  await expect(store().factsOf([{ ...row, templateKey: 'aaaaaaaaaaaaaaaa' }])).rejects.toThrow('has a row and no fact');
});

test('what is stored and is no template is refused when it is read', async () => {
  const template = newTemplate();
  await documentClient.send(
    new PutCommand({ TableName: table, Item: { ...factKey(keyFor(template)), wabaId, hash: 'x', deleted: false } }),
  );
  await expect(find(template)).rejects.toThrow();
});

test('concurrent refreshes of one template: all come through, the newest stays', async () => {
  const template = newTemplate();
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      store().refresh({ wabaId, clientIds: [1001, 1002] }, { ...template, status: `S${index}` }, 100 + index),
    ),
  );
  const found = await find(template);
  expect(found?.fact.readAtMs).toBe(119);
  expect(found?.fact.template.status).toBe('S19');
  expect(found?.client).toMatchObject({ status: 'S19' });
});
