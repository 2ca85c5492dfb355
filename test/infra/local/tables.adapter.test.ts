import { randomUUID } from 'node:crypto';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import type { LocalTable } from '../../../infra/local/local-template.ts';
import { createTables } from '../../../infra/local/tables.ts';

const client = new DynamoDBClient({
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  endpoint: inject('dynamodbEndpoint'),
});
const rows: LocalTable = {
  name: `rows-${randomUUID()}`,
  attributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'did', AttributeType: 'S' },
  ],
  keySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  globalSecondaryIndexes: [
    {
      IndexName: 'byDid',
      KeySchema: [{ AttributeName: 'did', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
};
const expiring: LocalTable = {
  name: `expiring-${randomUUID()}`,
  attributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  keySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  globalSecondaryIndexes: [],
  ttlAttribute: 'expiresAtSeconds',
};
const key = { pk: { S: 'a' }, sk: { S: 'b' } };

beforeAll(() => createTables(client, [rows, expiring]));
afterAll(() => client.destroy());

test('keys and indexes are those of the template, and the index answers', async () => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: rows.name }));
  expect(Table?.KeySchema).toEqual(rows.keySchema);
  expect(Table?.GlobalSecondaryIndexes).toMatchObject(rows.globalSecondaryIndexes);
  await client.send(
    new PutItemCommand({ TableName: rows.name, Item: { ...key, did: { S: '549' }, more: { S: 'x' } } }),
  );
  const { Items } = await client.send(
    new QueryCommand({
      TableName: rows.name,
      IndexName: 'byDid',
      KeyConditionExpression: 'did = :did',
      ExpressionAttributeValues: { ':did': { S: '549' } },
    }),
  );
  expect(Items).toEqual([{ ...key, did: { S: '549' } }]);
});

test('TTL is on where the template says so', async () => {
  const ttlOf = async (TableName: string) =>
    (await client.send(new DescribeTimeToLiveCommand({ TableName }))).TimeToLiveDescription;
  expect(await ttlOf(rows.name)).toEqual({ TimeToLiveStatus: 'DISABLED' });
  expect(await ttlOf(expiring.name)).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expiresAtSeconds' });
});

// Dynoxide keeps expired items, as AWS may for days; no rule of the service relies on the deletion.
test.runIf(inject('dynamodbEngine') === 'local')('DynamoDB Local deletes what has expired', async () => {
  const nowSeconds = Math.floor(Date.now() / 1000);
  for (const [pk, expiresAtSeconds] of [
    ['expired', nowSeconds - 60] as const,
    ['living', nowSeconds + 3600] as const,
  ]) {
    const Item = { pk: { S: pk }, expiresAtSeconds: { N: String(expiresAtSeconds) } };
    await client.send(new PutItemCommand({ TableName: expiring.name, Item }));
  }
  const find = async (pk: string) =>
    (await client.send(new GetItemCommand({ TableName: expiring.name, Key: { pk: { S: pk } } }))).Item;
  await vi.waitFor(async () => expect(await find('expired')).toBeUndefined(), { timeout: 25_000, interval: 250 });
  expect(await find('living')).toBeDefined();
});

test('creating them again changes nothing and keeps what they hold', async () => {
  const kept = { pk: { S: 'kept' } };
  await client.send(new PutItemCommand({ TableName: expiring.name, Item: kept }));
  await createTables(client, [rows, expiring]);
  const { Item } = await client.send(new GetItemCommand({ TableName: expiring.name, Key: kept }));
  expect(Item).toEqual(kept);
});

test('a table that DynamoDB refuses is an error', async () => {
  const wrong: LocalTable = { ...expiring, name: `wrong-${randomUUID()}`, attributeDefinitions: [] };
  await expect(createTables(client, [wrong])).rejects.toThrow(/attribute/i);
});
