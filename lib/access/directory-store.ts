import {
  BatchGetCommand,
  type BatchGetCommandInput,
  type BatchGetCommandOutput,
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
} from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { backoff } from '../aws/backoff.ts';
import { type Channel, type Directory, didPattern } from './directory.ts';
import {
  CampaignItemSchema,
  ChannelItemSchema,
  campaignSortPrefix,
  channelKey,
  clientPartition,
  DidItemSchema,
  didKey,
  type ItemKey,
  UserItemSchema,
  userKey,
  WabaItemSchema,
  wabaSortPrefix,
} from './directory-items.ts';

/** Most keys that DynamoDB takes in one BatchGetItem. */
const batchKeys = 100;
const batchAttempts = 6;

/** The directory on its DynamoDB table. */
export function directoryStore(client: DynamoDBDocumentClient, tableName: string): Directory {
  const get = async (key: ItemKey) =>
    (await client.send(new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true }))).Item;

  const list = async (clientId: number, sortPrefix: string) => {
    const items: unknown[] = [];
    for await (const page of paginateQuery(
      { client },
      {
        TableName: tableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :partition AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':partition': clientPartition(clientId), ':prefix': sortPrefix },
      },
    )) {
      items.push(...(page.Items ?? []));
    }
    return items;
  };

  return {
    // Asked with whatever a request carries, and DynamoDB refuses keys over 2 KB.
    findDid: async (did) =>
      didPattern.test(did) ? v.parse(v.optional(DidItemSchema), await get(didKey(did))) : undefined,
    findUser: async (clientId, userId) => v.parse(v.optional(UserItemSchema), await get(userKey(clientId, userId))),
    listWabas: async (clientId) => v.parse(v.array(WabaItemSchema), await list(clientId, wabaSortPrefix)),
    listCampaigns: async (clientId) => {
      const campaigns = v.parse(v.array(CampaignItemSchema), await list(clientId, campaignSortPrefix));
      return campaigns.sort((a, b) => a.campaignId - b.campaignId);
    },
    findChannels: async (clientId, channelIds) => {
      const keys = [...new Set(channelIds)].map((channelId) => channelKey(clientId, channelId));
      const chunks = Array.from({ length: Math.ceil(keys.length / batchKeys) }, (_, index) =>
        keys.slice(index * batchKeys, (index + 1) * batchKeys),
      );
      const found = await Promise.all(chunks.map((chunk) => getBatch(client, tableName, chunk)));
      return v.parse(v.array(ChannelItemSchema), found.flat()) satisfies Channel[];
    },
  };
}

/** All of at most 100 items. DynamoDB may leave keys unprocessed when it is busy: those are asked for again (R32). */
async function getBatch(
  client: DynamoDBDocumentClient,
  tableName: string,
  keys: readonly ItemKey[],
): Promise<unknown[]> {
  const items: unknown[] = [];
  let request: BatchGetCommandInput['RequestItems'] = { [tableName]: { Keys: [...keys], ConsistentRead: true } };
  for (let attempt = 1; attempt <= batchAttempts; attempt += 1) {
    const reply: BatchGetCommandOutput = await client.send(new BatchGetCommand({ RequestItems: request }));
    items.push(...(reply.Responses?.[tableName] ?? []));
    if (Object.keys(reply.UnprocessedKeys ?? {}).length === 0) return items;
    request = reply.UnprocessedKeys;
    await backoff(attempt);
  }
  throw new Error(`DynamoDB left keys unprocessed ${batchAttempts} times`);
}
