import { type DynamoDBDocumentClient, GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet } from '../aws/dynamodb-batch.ts';
import { maxBatchKeys } from '../aws/dynamodb-limits.ts';
import type { ItemKey } from '../aws/item-key.ts';
import { type Pause, storePause } from '../aws/pause.ts';
import { type Channel, type Directory, didPattern } from './directory.ts';
import {
  CampaignItemSchema,
  ChannelItemSchema,
  campaignSortPrefix,
  channelKey,
  channelSortPrefix,
  clientKey,
  clientPartition,
  clientSortPrefix,
  clientsPartition,
  DidItemSchema,
  didKey,
  RegisteredClientSchema,
  UserItemSchema,
  userKey,
  WabaItemSchema,
  wabaSortPrefix,
} from './directory-items.ts';

/** The directory on its DynamoDB table. */
export function directoryStore(
  client: DynamoDBDocumentClient,
  tableName: string,
  pause: Pause = storePause,
): Directory {
  const get = async (key: ItemKey) =>
    (await client.send(new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true }))).Item;

  const table = { client, tableName };
  return {
    hasClient: async (clientId) => (await get(clientKey(clientId))) !== undefined,
    // Asked with whatever a request carries, and DynamoDB refuses keys over 2 KB.
    findDid: async (did) =>
      didPattern.test(did) ? v.parse(v.optional(DidItemSchema), await get(didKey(did))) : undefined,
    findUser: async (clientId, userId) => v.parse(v.optional(UserItemSchema), await get(userKey(clientId, userId))),
    listClientIds: async () => {
      const clients = v.parse(
        v.array(RegisteredClientSchema),
        await listItems(table, clientsPartition, clientSortPrefix),
      );
      return clients.map(({ clientId }) => clientId);
    },
    listWabas: async (clientId) =>
      v.parse(v.array(WabaItemSchema), await listItems(table, clientPartition(clientId), wabaSortPrefix)),
    listCampaigns: async (clientId) => {
      const campaigns = v.parse(
        v.array(CampaignItemSchema),
        await listItems(table, clientPartition(clientId), campaignSortPrefix),
      );
      return campaigns.sort((a, b) => a.campaignId - b.campaignId);
    },
    listChannels: async (clientId) => {
      const channels = v.parse(
        v.array(ChannelItemSchema),
        await listItems(table, clientPartition(clientId), channelSortPrefix),
      );
      return channels.sort((a, b) => a.channelId - b.channelId);
    },
    findChannels: async (clientId, channelIds) => {
      const keys = [...new Set(channelIds)].map((channelId) => channelKey(clientId, channelId));
      const chunks = Array.from({ length: Math.ceil(keys.length / maxBatchKeys) }, (_, index) =>
        keys.slice(index * maxBatchKeys, (index + 1) * maxBatchKeys),
      );
      const found = await Promise.all(
        chunks.map((chunk) => batchGet({ documentClient: client, tableName, pause }, chunk, { consistent: true })),
      );
      return v.parse(v.array(ChannelItemSchema), found.flat()) satisfies Channel[];
    },
  };
}

interface Table {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
}

async function listItems({ client, tableName }: Table, partition: string, sortPrefix: string): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const page of paginateQuery(
    { client },
    {
      TableName: tableName,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :partition AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':partition': partition, ':prefix': sortPrefix },
    },
  )) {
    items.push(...(page.Items ?? []));
  }
  return items;
}
