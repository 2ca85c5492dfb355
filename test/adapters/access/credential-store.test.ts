import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import { credentialStore } from '../../../lib/access/credential-store.ts';
import { type Credentials, failureLimit, failureWindowSeconds } from '../../../lib/access/sign-in.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
const windowStartMs = failureWindowSeconds * 1000 * 2_000_000;
const credential = { passwordHash: 'hash-1', userId: 'u-1', clientId: 1001 };

let tableName: string;
let store: Credentials;

beforeEach(async () => {
  tableName = await freshTable('credentials');
  store = credentialStore(client, tableName);
});

const put = (username: string, attributes: object) =>
  client.send(new PutCommand({ TableName: tableName, Item: { pk: `USER#${username}`, ...attributes } }));

const items = async () => (await client.send(new ScanCommand({ TableName: tableName }))).Items ?? [];

test('a credential is found by its exact user name', async () => {
  await put('supervisor1001', credential);
  expect(await store.find('supervisor1001')).toEqual(credential);
  expect(await store.find('Supervisor1001')).toBeUndefined();
  expect(await store.find('supervisor100')).toBeUndefined();
});

test('an item that is not a credential is an error, not a user', async () => {
  await put('broken', { userId: 'u-1', clientId: 1001 });
  await expect(store.find('broken')).rejects.toThrow('passwordHash');
});

test('failures count per name and window, known or not, and go away with the window (R38)', async () => {
  const lastMs = windowStartMs + failureWindowSeconds * 1000 - 1;
  await put('known', credential);
  await store.addFailure('known', windowStartMs);
  await store.addFailure('known', lastMs);
  await store.addFailure('unknown', lastMs);
  expect(await store.countFailures('known', lastMs)).toBe(2);
  expect(await store.countFailures('unknown', windowStartMs)).toBe(1);
  expect(await store.countFailures('another', windowStartMs)).toBe(0);
  expect(await store.countFailures('known', lastMs + 1)).toBe(0);
  expect(await store.find('known')).toEqual(credential);
});

test('no failure is lost when many are counted at once, and counting ends at the limit', async () => {
  await Promise.all(Array.from({ length: failureLimit - 1 }, () => store.addFailure('busy', windowStartMs)));
  expect(await store.countFailures('busy', windowStartMs)).toBe(failureLimit - 1);
  await Promise.all(Array.from({ length: 30 }, () => store.addFailure('busy', windowStartMs)));
  expect(await store.countFailures('busy', windowStartMs)).toBe(failureLimit);
});

test('a counter expires with its window, in seconds', async () => {
  await store.addFailure('somebody', windowStartMs + 5_000);
  expect(await items()).toEqual([
    {
      pk: 'ATTEMPTS#somebody#2000000',
      failures: 1,
      expiresAtSeconds: windowStartMs / 1000 + failureWindowSeconds,
    },
  ]);
});

test('names nobody can have make short keys of their own, whatever they are made of', async () => {
  const names = ['', 'x'.repeat(129), 'x'.repeat(1_000_000), '\ud800', 'a#b', 'sha256:x', '\u0000', '🙂'];
  for (const name of names) {
    expect(await store.find(name)).toBeUndefined();
    await store.addFailure(name, windowStartMs);
    expect(await store.countFailures(name, windowStartMs)).toBe(1);
  }
  const keys = (await items()).map((item) => String(item['pk']));
  expect(new Set(keys).size).toBe(names.length);
  expect(Math.max(...keys.map((key) => key.length))).toBeLessThan(100);
});

test('a hash is replaced only while it is the one that was verified', async () => {
  await put('user', credential);
  await store.replaceHash('user', 'hash-0', 'hash-2');
  expect(await store.find('user')).toEqual(credential);
  await store.replaceHash('user', 'hash-1', 'hash-2');
  expect(await store.find('user')).toEqual({ ...credential, passwordHash: 'hash-2' });
  await store.replaceHash('nobody', 'hash-1', 'hash-2');
  expect(await store.find('nobody')).toBeUndefined();
});
