import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchPut, type QueriedTable, type TableAccess } from '../../aws/dynamodb-batch.ts';
import { sentIdKey } from '../dispatch/items.ts';
import type { FindSentId, KeepSentIds } from './sent-ids.ts';

const SentItemSchema = v.object({ dispatchId: v.string(), index: v.number() });

/** Writes platform ids, one item each, which expire with their dispatch. */
export function sentIdWriter(messages: TableAccess): KeepSentIds {
  return async (sent, expiresAtSeconds) => {
    const items = sent.map(({ dispatchId, index, ...message }) => [sentIdKey(message), { dispatchId, index }] as const);
    // A batch with a repeated key would be refused as a whole.
    const distinct = new Map(items.map(([key, item]) => [key.pk, { ...key, ...item, expiresAtSeconds }]));
    await batchPut(messages, [...distinct.values()]);
  };
}

export function sentIdReader({ client, name }: QueriedTable): FindSentId {
  return async (message) => {
    const get = new GetCommand({ TableName: name, Key: sentIdKey(message), ConsistentRead: true });
    const { Item } = await client.send(get);
    return Item === undefined ? undefined : v.parse(SentItemSchema, Item);
  };
}
