import { randomUUID } from 'node:crypto';
import { type CancellationReason, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { present } from '../keys/present.ts';
import type { ItemKey } from './item-key.ts';
import { maxRepetitions, type Pause } from './pause.ts';

export type Item = Readonly<Record<string, unknown>>;
export type TransactionAction = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

export interface TableAccess {
  readonly documentClient: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly pause: Pause;
}

/**
 * The items under at most 100 distinct keys, those that exist, in no order. Keys that DynamoDB leaves unprocessed are
 * asked for again; after `maxRepetitions` in vain it throws rather than pass a part off as the whole (R32).
 */
export async function batchGet(
  { documentClient, tableName, pause }: TableAccess,
  keys: readonly ItemKey[],
  read: { readonly consistent: boolean },
): Promise<Item[]> {
  const items: Item[] = [];
  let wanted: Item[] = keys.map((key) => ({ ...key }));
  for (let attempt = 0; wanted.length > 0; attempt++) {
    if (attempt > maxRepetitions) throw new Error(`${wanted.length} keys of ${tableName} stayed unprocessed`);
    if (attempt > 0) await pause(attempt);
    const reply = await documentClient.send(
      new BatchGetCommand({ RequestItems: { [tableName]: { Keys: wanted, ConsistentRead: read.consistent } } }),
    );
    items.push(...(reply.Responses?.[tableName] ?? []));
    wanted = reply.UnprocessedKeys?.[tableName]?.Keys ?? [];
  }
  return items;
}

/**
 * DynamoDB's own pages end at 1 MB, which is thousands of small items: on a busy machine, one more than an attempt has time
 * for while others are read beside it.
 */
const maxPageItems = 2_500;

/** All items of a partition, or those whose sort key begins so; strongly consistent, read page by page to the end. */
export async function queryPartition(
  { documentClient, tableName }: TableAccess,
  partition: string,
  sortPrefix?: string,
): Promise<Item[]> {
  const items: Item[] = [];
  let start: Item | undefined;
  do {
    const page = await documentClient.send(
      new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: `pk = :partition${sortPrefix === undefined ? '' : ' AND begins_with(sk, :prefix)'}`,
        ExpressionAttributeValues: {
          ':partition': partition,
          ...present({ ':prefix': sortPrefix }),
        },
        ConsistentRead: true,
        Limit: maxPageItems,
        ExclusiveStartKey: start,
      }),
    );
    for (const item of page.Items ?? []) items.push(item);
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return items;
}

const repeatable = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/**
 * Writes all actions or none. Resolves to undefined when they are written, and to the reason of each action, in order, when
 * a condition failed. Conflicts with other transactions and throttles are repeated; after `maxRepetitions` in vain, and
 * for anything else, it throws. All repetitions carry one token: a transaction that was written although its reply was
 * lost is not taken for somebody else's when a repetition arrives.
 */
export async function transactWrite(
  { documentClient, pause }: TableAccess,
  actions: readonly TransactionAction[],
): Promise<readonly CancellationReason[] | undefined> {
  const command = { TransactItems: [...actions], ClientRequestToken: randomUUID() };
  for (let attempt = 0; ; attempt++) {
    if (attempt > 0) await pause(attempt);
    try {
      await documentClient.send(new TransactWriteCommand(command));
      return undefined;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      if (reasons.some((reason) => reason.Code === 'ConditionalCheckFailed')) return reasons;
      if (attempt === maxRepetitions || !reasons.some((reason) => repeatable.has(reason.Code ?? ''))) throw error;
    }
  }
}
