import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import { credentialStore } from '../../../../lib/access/sign-in/credential-store.ts';
import type { Credentials } from '../../../../lib/access/sign-in/sign-in.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const client = localDocumentClient();
const credential = { passwordHash: 'hash-1', userId: 'u-1', clientId: 1001 };

let tableName: string;
let store: Credentials;

beforeEach(async () => {
  tableName = await freshTable('credentials');
  store = credentialStore(client, tableName);
});

const put = (username: string, attributes: object) =>
  client.send(new PutCommand({ TableName: tableName, Item: { pk: `USER#${username}`, ...attributes } }));

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

test('a hash is replaced only while it is the one that was verified', async () => {
  await put('user', credential);
  await store.replaceHash('user', 'hash-0', 'hash-2');
  expect(await store.find('user')).toEqual(credential);
  await store.replaceHash('user', 'hash-1', 'hash-2');
  expect(await store.find('user')).toEqual({ ...credential, passwordHash: 'hash-2' });
  await store.replaceHash('nobody', 'hash-1', 'hash-2');
  expect(await store.find('nobody')).toBeUndefined();
});
