import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { batchGet, queryPartition, type TableAccess } from '../aws/dynamodb-batch.ts';
import type { ItemKey } from '../aws/item-key.ts';
import { type Pause, storePause } from '../aws/pause.ts';
import type { ListedChannel, LiveValues } from './channel.ts';
import {
  channelFromItem,
  channelShards,
  clientPrefix,
  factsText,
  listedChannelKey,
  liveText,
  shardPartitions,
  type WabaNumber,
  wabaNumberFromItem,
  wabaNumberKey,
  wabaPartition,
} from './channel-item.ts';

export interface ChannelStore {
  /**
   * Reads every channel of a client, or of all clients, deleted ones too, unordered, strongly consistently, in two
   * round trips up to about 75,000 channels in all.
   */
  channelsOf(clientId: number | undefined): Promise<ListedChannel[]>;
  /** Reads the provisioned channels of a WABA's numbers, in one round trip up to about 2,500. */
  numbersOf(wabaId: string): Promise<WabaNumber[]>;
  /** Finds the channel of a platform's number, strongly consistently, in two round trips. */
  findNumber(wabaId: string, phoneNumberId: string): Promise<ListedChannel | undefined>;
  /**
   * Returns the existing channels among these, strongly consistently, in one round trip: 100 a request, side by side.
   */
  find(channels: readonly Pick<ListedChannel, 'clientId' | 'waId'>[]): Promise<ListedChannel[]>;
  /**
   * Writes live values. Returns false, without a write, when the channel is gone, its provisioning has changed, or a
   * later reading is stored.
   */
  writeLive(channel: ListedChannel, live: LiveValues, readAtMs: number): Promise<boolean>;
}

/** All shards at once, with 50,000 channels, would exceed a request's time-out on a busy machine's emulator. */
const shardsAtOnce = channelShards / 2;

export function channelStore(
  documentClient: DynamoDBDocumentClient,
  tableName: string,
  pause: Pause = storePause,
): ChannelStore {
  const table: TableAccess = { client: documentClient, name: tableName, pause };
  return {
    channelsOf: async (clientId) => {
      const ofClient = clientId === undefined ? undefined : { prefix: clientPrefix(clientId) };
      const shards = shardPartitions();
      const items = [];
      for (let start = 0; start < shards.length; start += shardsAtOnce) {
        const some = shards.slice(start, start + shardsAtOnce);
        items.push(...(await Promise.all(some.map((shard) => queryPartition(table, shard, ofClient)))));
      }
      return items.flat().map(channelFromItem);
    },
    numbersOf: async (wabaId) => (await queryPartition(table, wabaPartition(wabaId))).map(wabaNumberFromItem),
    findNumber: async (wabaId, phoneNumberId) => {
      const entries = await batchGet(table, [wabaNumberKey(wabaId, phoneNumberId)], { consistent: true });
      const keys = entries.map(wabaNumberFromItem).map(keyOf);
      const channels = (await batchGet(table, keys, { consistent: true })).map(channelFromItem);
      // The entry may be stale; the channel is authoritative.
      return channels.find((channel) => channel.phoneNumberId === phoneNumberId && !channel.deleted);
    },
    find: async (channels) => {
      const keys = [...new Map(channels.map((each) => [`${each.clientId} ${each.waId}`, keyOf(each)])).values()];
      return (await batchGet(table, keys, { consistent: true })).map(channelFromItem);
    },
    writeLive: async (channel, live, readAtMs) => {
      const update = new UpdateCommand({
        TableName: tableName,
        Key: keyOf(channel),
        UpdateExpression: 'SET l = :live, v = :readAt',
        ConditionExpression: 'f = :facts AND g = :gone AND (attribute_not_exists(v) OR v < :readAt)',
        ExpressionAttributeValues: {
          ':live': liveText(live),
          ':readAt': readAtMs,
          ':facts': factsText(channel),
          ':gone': false,
        },
      });
      return (await conditionalWrite(documentClient.send(update))).written;
    },
  };
}

function keyOf({ clientId, waId }: Pick<ListedChannel, 'clientId' | 'waId'>): ItemKey {
  return listedChannelKey(clientId, waId);
}
