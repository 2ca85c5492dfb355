import { BatchGetCommand, type BatchGetCommandInput, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test, vi } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { directoryStore } from '../../../lib/access/directory-store.ts';
import { maxRepetitions } from '../../../lib/aws/pause.ts';
import { provisioningFile } from '../../../lib/provisioning/provisioning-file.ts';
import { loadClients } from '../../support/scale-loading.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
const tableName = await freshTable('directory');
const directory = directoryStore(client, tableName);

beforeAll(async () => {
  const file = provisioningFile(demo, []);
  const extra = Array.from({ length: 248 }, (_, index) => ({
    channel_id: 1_000 + index,
    did: String(5_411_000_000_000 + index),
    name: `Channel ${index}`,
    client_id: 1001,
    waba_id: '200000000000001',
    phone_number_id: String(310_000_000_000_000 + index),
    throughput_per_second: 80,
  }));
  await loadClients({ documentClient: client, tableName }, { ...file, channels: [...file.channels, ...extra] });
});

test('a DID is found with its channel and its WABA, from one read', async () => {
  expect(await directory.findDid('5511900000003')).toEqual({
    channel: {
      channelId: 503,
      did: '5511900000003',
      clientId: 1002,
      wabaId: '200000000000002',
      phoneNumberId: '300000000000003',
      name: 'Boreal São Paulo',
      throughputPerSecond: 1_000,
    },
    waba: {
      wabaId: '200000000000002',
      name: 'Boreal WABA',
      namespace: demo.wabas[1]?.namespace,
      credential: 'demo',
      clientIds: [1002],
      dids: 'waba',
      platformStops: 'number',
      utilityStops: [],
      appId: '500000000000001',
    },
  });
  expect(await directory.findDid('5500000000000')).toBeUndefined();
});

test.each(['', 'DID', '9'.repeat(2_500), '5511900000003 ', '٥٥١١٩٠٠٠٠٠٠٠٣'])(
  '%j can be no DID and is found nowhere',
  async (text) => {
    expect(await directory.findDid(text)).toBeUndefined();
  },
);

test('a user is found under the own client only', async () => {
  expect(await directory.findUser(1001, 'supervisor1001')).toEqual({
    userId: 'supervisor1001',
    username: 'supervisor1001',
    clientId: 1001,
    permissions: [],
    campaignIds: [10, 11],
  });
  expect(await directory.findUser(1002, 'supervisor1001')).toBeUndefined();
});

test('WABAs and campaigns are those of the client, in order', async () => {
  expect((await directory.listWabas(1001)).map(({ wabaId }) => wabaId)).toEqual(['200000000000001']);
  expect(await directory.listWabas(1002)).toMatchObject([
    { wabaId: '200000000000001', clientIds: [1001, 1002], credential: 'demo' },
    { wabaId: '200000000000002', clientIds: [1002] },
  ]);
  expect(await directory.listCampaigns(1001)).toEqual([
    { campaignId: 10, clientId: 1001, name: 'Onboarding' },
    { campaignId: 11, clientId: 1001, name: 'Collections' },
  ]);
  expect([await directory.listWabas(1), await directory.listCampaigns(1), await directory.listWabas(100)]).toEqual([
    [],
    [],
    [],
  ]);
});

test('campaigns are in the order of their numbers, not of their digits', async () => {
  for (const campaignId of [9, 100, 30]) {
    const Item = { pk: 'CLIENT#77', sk: `CAMPAIGN#${campaignId}`, campaignId, clientId: 77, name: 'c' };
    await client.send(new PutCommand({ TableName: tableName, Item }));
  }
  expect((await directory.listCampaigns(77)).map(({ campaignId }) => campaignId)).toEqual([9, 30, 100]);
});

test('a list of more than one page of a query is whole', async () => {
  const name = 'n'.repeat(300_000);
  for (let campaignId = 1; campaignId <= 5; campaignId += 1) {
    const Item = { pk: 'CLIENT#78', sk: `CAMPAIGN#${campaignId}`, campaignId, clientId: 78, name };
    await client.send(new PutCommand({ TableName: tableName, Item }));
  }
  expect(await directory.listCampaigns(78)).toHaveLength(5);
});

test('channels are found by id among those of the client, unknown ones left out, doubles once, more than 100', async () => {
  const found = await directory.findChannels(1001, [501, 502, 501, 999_999]);
  expect(found).toMatchObject([{ channelId: 501, did: '5491100000001', name: 'Andes sales' }]);
  expect(found).toHaveLength(1);
  const ids = Array.from({ length: 248 }, (_, index) => 1_000 + index);
  const many = await directory.findChannels(1001, ids);
  expect(many.map(({ channelId }) => channelId).toSorted((a, b) => a - b)).toEqual(ids);
  expect(await directory.findChannels(1001, [])).toEqual([]);
});

test('keys that DynamoDB leaves unprocessed are asked for again (R32)', async () => {
  const requested: number[] = [];
  const busy = localDocumentClient();
  // DynamoDB Local never returns a partial batch, so this client answers only the first key, as a busy table does.
  vi.spyOn(busy, 'send').mockImplementation(async (command: { input: unknown }) => {
    const { Keys = [] } = (command.input as BatchGetCommandInput).RequestItems?.[tableName] ?? {};
    requested.push(Keys.length);
    const ask = (keys: typeof Keys) => ({ [tableName]: { ConsistentRead: true, Keys: keys } });
    const reply = await client.send(new BatchGetCommand({ RequestItems: ask(Keys.slice(0, 1)) }));
    return { ...reply, UnprocessedKeys: Keys.length > 1 ? ask(Keys.slice(1)) : {} };
  });
  const store = directoryStore(busy, tableName, async () => undefined);
  const found = await store.findChannels(1001, [1_000, 1_001, 1_002]);
  expect(found.map(({ channelId }) => channelId)).toEqual([1_000, 1_001, 1_002]);
  expect(requested).toEqual([3, 2, 1]);
  const tooMany = Array.from({ length: maxRepetitions + 2 }, (_, index) => index + 1);
  await expect(store.findChannels(1001, tooMany)).rejects.toThrow('unprocessed');
});

test('an item that is not what it should be is an error', async () => {
  const Item = { pk: 'DID#5400000000000', sk: 'DID', channel: {}, waba: {} };
  await client.send(new PutCommand({ TableName: tableName, Item }));
  await expect(directory.findDid('5400000000000')).rejects.toThrow('channelId');
});

test('all clients are listed, by number and not by spelling', async () => {
  const extra = [20_000, 3].map((id) => ({ client_id: id, name: `Client ${id}`, opt_outs_for_utility: false }));
  const file = provisioningFile(demo, []);
  await loadClients({ documentClient: client, tableName }, { ...file, clients: [...file.clients, ...extra] });
  expect(await directory.listClientIds()).toEqual([1, 3, 1001, 1002, 20_000]);
});

test('a client has the zone that was provisioned for it, or none (D56)', async () => {
  const file = provisioningFile(demo, []);
  const zone = 'Asia/Tokyo';
  const extra = { client_id: 30_000, name: 'Client 30000', opt_outs_for_utility: false, zone };
  await loadClients({ documentClient: client, tableName }, { ...file, clients: [...file.clients, extra] });
  const zones = [30_000, 1001, 7777].map(async (clientId) => await directory.zoneOfClient(clientId));
  expect(await Promise.all(zones)).toEqual([zone, undefined, undefined]);
});

test('a client is there when it was provisioned', async () => {
  expect(await directory.hasClient(1001)).toBe(true);
  expect(await directory.hasClient(1)).toBe(true);
  expect(await directory.hasClient(7777)).toBe(false);
});
