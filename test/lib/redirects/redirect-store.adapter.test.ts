import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { pendingSeconds, redirectStore } from '../../../lib/redirects/redirect-store.ts';
import { meterRequests } from '../../support/request-meter.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
const origin = { clientId: 1001, wabaId: '200', templateKey: 'abcdefghijklmnop', createdAtMs: 1_800_000_000_000 };

let table: string;
beforeAll(async () => {
  table = await freshTable('redirects');
});
const store = () => redirectStore(client, table);
const itemOf = async (code: string) =>
  (await client.send(new GetCommand({ TableName: table, Key: { pk: `REDIRECT#${code}` } }))).Item;

const expiry = origin.createdAtMs / 1_000 + pendingSeconds;
const one = { code: 'one', url: 'https://a.example/' };

test('what is put is pending: it leads nowhere, and its origin stands beside it', async () => {
  await store().put([one], origin);
  expect(await itemOf('one')).toEqual({ pk: 'REDIRECT#one', url: one.url, ...origin, expiresAtSeconds: expiry });
  expect(await store().urlOf('one')).toBeUndefined();
  expect(await store().urlOf('two')).toBeUndefined();
});

test('put again, at the same moment too, it lasts longer and keeps its first origin', async () => {
  await store().put([{ ...one, code: 'again' }], origin);
  const others = [1002, 1003, 1004].map((clientId) => ({
    ...origin,
    clientId,
    createdAtMs: origin.createdAtMs + 1_000,
  }));
  await Promise.all(others.map((other) => store().put([{ ...one, code: 'again' }], other)));
  expect(await itemOf('again')).toMatchObject({ ...origin, expiresAtSeconds: expiry + 1 });
});

test('what is kept leads on, and does so when it is put again', async () => {
  const kept = { ...one, code: 'kept' };
  await store().put([kept], origin);
  expect(await store().keep(['kept'], origin.templateKey)).toEqual([]);
  await store().put([kept], { ...origin, clientId: 1002 });
  expect(await itemOf('kept')).toEqual({ pk: 'REDIRECT#kept', url: one.url, ...origin });
  expect(await store().urlOf('kept')).toBe(one.url);
  expect(await store().keep(['kept'], origin.templateKey)).toEqual([]);
});

test('one that has expired and is still there can be kept: DynamoDB removes late', async () => {
  await store().put([{ ...one, code: 'late' }], { ...origin, createdAtMs: 0 });
  await store().keep(['late'], origin.templateKey);
  expect(await store().urlOf('late')).toBe(one.url);
});

test('a template keeps its own redirects only, and one that is gone is told and not made up', async () => {
  await store().put([{ ...one, code: 'foreign' }], origin);
  expect(await store().keep(['foreign', 'nowhere'], 'another_template')).toEqual(['nowhere']);
  expect(await store().urlOf('foreign')).toBeUndefined();
  expect(await itemOf('nowhere')).toBeUndefined();
});

test('one request for each redirect of a large carousel, and none without one', async () => {
  const metered = localDocumentClient();
  const meter = meterRequests(metered);
  const redirects = Array.from({ length: 22 }, (_, index) => ({
    code: `c${index}`,
    url: `https://a.example/${index}`,
  }));
  await redirectStore(metered, table).put([], origin);
  await redirectStore(metered, table).put(redirects, origin);
  expect(meter.taken()).toMatchObject({ requests: 22 });
  const codes = redirects.map(({ code }) => code);
  expect(await redirectStore(metered, table).keep(codes, origin.templateKey)).toEqual([]);
  expect(meter.taken()).toMatchObject({ requests: 22 });
  for (const { code, url } of redirects) expect(await store().urlOf(code)).toBe(url);
});
