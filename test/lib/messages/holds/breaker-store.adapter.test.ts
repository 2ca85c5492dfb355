import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import {
  afterSilentNumber,
  type Breaker,
  closed,
  leased,
  opened,
  stillOpen,
  unknownBreaker,
} from '../../../../lib/messages/holds/breaker.ts';
import { breakerStore } from '../../../../lib/messages/holds/breaker-store.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const nowMs = 1_800_000_000_000;
let table: string;

beforeEach(async () => {
  table = await freshTable('messages');
});

function store() {
  return breakerStore(tableOf(localDocumentClient(), table, { nowMs: () => nowMs }));
}

test('what is stored is found again; without an item the breaker is unknown', async () => {
  expect(await store().find()).toEqual(unknownBreaker);
  const written = await store().change(unknownBreaker, opened(nowMs));
  expect(written).toEqual({
    version: 1,
    silentWabas: {},
    open: { sinceMs: nowMs, probeAtMs: nowMs + 5_000, failedProbes: 0 },
  });
  expect(await store().find()).toEqual(written);
  const { Item } = await localDocumentClient().send(
    new GetCommand({ TableName: table, Key: { pk: 'PLATFORM', sk: 'BREAKER' } }),
  );
  expect(Item).toMatchObject({ expiresAtSeconds: nowMs / 1_000 + 30 * 86_400 });
  expect(await store().change(written as Breaker, closed)).toEqual({ ...unknownBreaker, version: 2 });
  expect(await store().find()).toEqual({ ...unknownBreaker, version: 2 });
});

test('of twenty who may ask at once, one does', async () => {
  const open = (await store().change(unknownBreaker, opened(nowMs))) as Breaker;
  const leases = await Promise.all(Array.from({ length: 20 }, () => store().change(open, leased(nowMs + 5_000))));
  expect(leases.filter((each) => each !== undefined)).toHaveLength(1);
});

test('a worker that has seen an older state decides by the stored one', async () => {
  await store().change(unknownBreaker, afterSilentNumber('1', nowMs));
  const second = await store().change(unknownBreaker, afterSilentNumber('2', nowMs + 2));
  const silentWabas = { 1: nowMs, 2: nowMs + 2 };
  expect(second).toMatchObject({ version: 2, silentWabas, open: { sinceMs: nowMs + 2 } });
  // A worker cannot open an open breaker, or prolong one that an answer has closed.
  expect(await store().change(unknownBreaker, opened(nowMs + 3))).toBeUndefined();
  const closing = await store().change(second as Breaker, closed);
  expect(await store().change(second as Breaker, stillOpen(nowMs + 4))).toBeUndefined();
  expect(await store().find()).toEqual(closing);
});

test('an item that cannot be read is no breaker', async () => {
  const Item = { pk: 'PLATFORM', sk: 'BREAKER', version: 'one' };
  await localDocumentClient().send(new PutCommand({ TableName: table, Item }));
  await expect(store().find()).rejects.toThrow();
});
