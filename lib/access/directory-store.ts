import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, queryPartition, type TableAccess } from '../aws/dynamodb-batch.ts';
import type { ItemKey } from '../aws/item-key.ts';
import { type Pause, storePause } from '../aws/pause.ts';
import { type Channel, type Client, type Directory, didPattern } from './directory.ts';
import {
  CampaignItemSchema,
  ChannelItemSchema,
  ClientItemSchema,
  campaignSortPrefix,
  channelKey,
  channelSortPrefix,
  clientKey,
  clientPartition,
  clientSortPrefix,
  clientsPartition,
  DidItemSchema,
  didKey,
  UserItemSchema,
  userKey,
  WabaItemSchema,
  wabaSortPrefix,
} from './directory-items.ts';

export function directoryStore(
  client: DynamoDBDocumentClient,
  tableName: string,
  pause: Pause = storePause,
): Directory {
  const get = async (key: ItemKey) =>
    (await client.send(new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true }))).Item;

  const table = { client, name: tableName, pause };
  return {
    hasClient: async (clientId) => (await get(clientKey(clientId))) !== undefined,
    zoneOfClient: async (clientId) =>
      v.parse(v.optional(ClientItemSchema), await get(clientKey(clientId)))?.zone ?? undefined,
    findClient: async (clientId) => v.parse(v.optional(ClientItemSchema), await get(clientKey(clientId))),
    // The pattern comes first: requests may carry any text, and DynamoDB refuses keys over 2 KB.
    findDid: async (did) =>
      didPattern.test(did) ? v.parse(v.optional(DidItemSchema), await get(didKey(did))) : undefined,
    findUser: async (clientId, userId) => v.parse(v.optional(UserItemSchema), await get(userKey(clientId, userId))),
    listClientIds: async () => (await clientsIn(table)).map(({ clientId }) => clientId),
    listClients: () => clientsIn(table),
    listWabas: async (clientId) =>
      v.parse(
        v.array(WabaItemSchema),
        await queryPartition(table, clientPartition(clientId), { prefix: wabaSortPrefix }),
      ),
    listCampaigns: async (clientId) => {
      const campaigns = v.parse(
        v.array(CampaignItemSchema),
        await queryPartition(table, clientPartition(clientId), { prefix: campaignSortPrefix }),
      );
      return campaigns.sort((a, b) => a.campaignId - b.campaignId);
    },
    listChannels: async (clientId) => {
      const channels = v.parse(
        v.array(ChannelItemSchema),
        await queryPartition(table, clientPartition(clientId), { prefix: channelSortPrefix }),
      );
      return channels.sort((a, b) => a.channelId - b.channelId);
    },
    findChannels: async (clientId, channelIds) => {
      const keys = [...new Set(channelIds)].map((channelId) => channelKey(clientId, channelId));
      const found = await batchGet(table, keys, { consistent: true });
      return v.parse(v.array(ChannelItemSchema), found) satisfies Channel[];
    },
  };
}

async function clientsIn(table: TableAccess): Promise<Client[]> {
  return v.parse(
    v.array(ClientItemSchema),
    await queryPartition(table, clientsPartition, { prefix: clientSortPrefix }),
  );
}
