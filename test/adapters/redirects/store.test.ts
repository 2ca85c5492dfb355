import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { redirectStore } from '../../../lib/redirects/store.ts';
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

test('what was stored is found, with its origin beside it; what was not is not', async () => {
  await store().put([{ code: 'one', url: 'https://a.example/' }], origin);
  expect(await store().find('one')).toBe('https://a.example/');
  expect(await itemOf('one')).toEqual({ pk: 'REDIRECT#one', url: 'https://a.example/', ...origin });
  expect(await store().find('two')).toBeUndefined();
});

test('all redirects of a large carousel in one request, and none without one', async () => {
  const metered = localDocumentClient();
  const meter = meterRequests(metered);
  const redirects = Array.from({ length: 22 }, (_, index) => ({
    code: `c${index}`,
    url: `https://a.example/${index}`,
  }));
  await redirectStore(metered, table).put([], origin);
  await redirectStore(metered, table).put(redirects, origin);
  expect(meter.taken()).toMatchObject({ requests: 1, writes: 1 });
  for (const { code, url } of redirects) expect(await store().find(code)).toBe(url);
});

test('stored again, at the same moment too, it keeps its first origin', async () => {
  const redirects = [{ code: 'again', url: 'https://a.example/' }];
  await store().put(redirects, origin);
  const others = [1002, 1003, 1004].map((clientId) => ({ ...origin, clientId, createdAtMs: origin.createdAtMs + 1 }));
  await Promise.all(others.map((other) => store().put(redirects, other)));
  expect(await itemOf('again')).toMatchObject(origin);
});
