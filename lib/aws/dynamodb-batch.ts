import { randomUUID } from 'node:crypto';
import { type CancellationReason, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  type DynamoDBDocumentClient,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { present } from '../keys/present.ts';
import { maxBatchKeys, maxBatchWrites, maxTransactionActions } from './dynamodb-limits.ts';
import type { ItemKey } from './item-key.ts';
import { maxRepetitions, type Pause } from './pause.ts';

export type Item = Readonly<Record<string, unknown>>;
type BatchWrites = NonNullable<BatchWriteCommandInput['RequestItems']>[string];
export type TransactionAction = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

export interface TableAccess {
  readonly documentClient: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly pause: Pause;
}

/** Enough of a table to query it: a query repeats nothing of its own. */
export type QueriedTable = Pick<TableAccess, 'documentClient' | 'tableName'>;

/**
 * The items under any number of distinct keys, those that exist, in no order: 100 keys a request, the requests side by
 * side. Keys that DynamoDB leaves unprocessed are asked for again; after `maxRepetitions` in vain it throws rather than
 * pass a part off as the whole (R32).
 */
export async function batchGet(
  table: TableAccess,
  keys: readonly ItemKey[],
  read: { readonly consistent: boolean },
): Promise<Item[]> {
  return (await Promise.all(chunksOf(keys, maxBatchKeys).map((chunk) => getChunk(table, chunk, read)))).flat();
}

async function getChunk(
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
 * Writes any number of items under distinct keys, in the place of what is there: 25 a request, the requests side by side. What
 * DynamoDB leaves unprocessed is written again; after `maxRepetitions` in vain it throws, and then some of it may be written.
 */
export async function batchPut(table: TableAccess, items: readonly Item[]): Promise<void> {
  await Promise.all(chunksOf(items, maxBatchWrites).map((chunk) => putChunk(table, chunk)));
}

async function putChunk({ documentClient, tableName, pause }: TableAccess, items: readonly Item[]): Promise<void> {
  let left: BatchWrites = items.map((item) => ({ PutRequest: { Item: { ...item } } }));
  for (let attempt = 0; left.length > 0; attempt++) {
    if (attempt > maxRepetitions) throw new Error(`${left.length} items of ${tableName} stayed unprocessed`);
    if (attempt > 0) await pause(attempt);
    const reply = await documentClient.send(new BatchWriteCommand({ RequestItems: { [tableName]: left } }));
    left = reply.UnprocessedItems?.[tableName] ?? [];
  }
}

/** What one transaction each can write, in order. */
export function transactionsOf<Change>(changes: readonly Change[]): Change[][] {
  return chunksOf(changes, maxTransactionActions);
}

function chunksOf<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

/**
 * DynamoDB's own pages end at 1 MB, which is thousands of small items: on a busy machine, one more than an attempt has time
 * for while others are read beside it.
 */
const maxPageItems = 2_500;

/** Which items of a partition: those whose sort key begins so, or lies between two, both included. */
export type SortKeys = { readonly prefix: string } | { readonly from: string; readonly to: string };

/**
 * The items of a partition in order of their sort keys, page by page to the end; all of them without `sort`. A page is read
 * once it is asked for, and has `pageItems` at most.
 */
export async function* queryPages(
  { documentClient, tableName }: QueriedTable,
  partition: string,
  {
    sort,
    consistent,
    pageItems = maxPageItems,
  }: { readonly sort: SortKeys | undefined; readonly consistent: boolean; readonly pageItems?: number },
): AsyncGenerator<Item[]> {
  let start: Item | undefined;
  do {
    const page = await documentClient.send(
      new QueryCommand({
        TableName: tableName,
        ...inPartition(partition, sort),
        ConsistentRead: consistent,
        Limit: pageItems,
        ExclusiveStartKey: start,
      }),
    );
    yield page.Items ?? [];
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
}

function inPartition(partition: string, sort: SortKeys | undefined) {
  const here = { ':partition': partition };
  if (sort === undefined) {
    return { KeyConditionExpression: 'pk = :partition', ExpressionAttributeValues: here };
  }
  if ('prefix' in sort) {
    return {
      KeyConditionExpression: 'pk = :partition AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ...here, ':prefix': sort.prefix },
    };
  }
  return {
    KeyConditionExpression: 'pk = :partition AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ...here, ':from': sort.from, ':to': sort.to },
  };
}

/** All items of a partition, or those that `sort` names; strongly consistent. */
export async function queryPartition(table: TableAccess, partition: string, sort?: SortKeys): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of queryPages(table, partition, { sort, consistent: true })) {
    for (const item of page) items.push(item);
  }
  return items;
}

const repeatable = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/**
 * Writes all actions or none. Resolves to undefined when they are written, and to the reason of each action, in order,
 * when a condition failed. Conflicts and throttles are repeated; after `maxRepetitions` in vain, and for anything else,
 * it throws. Repetitions carry one token, so that one whose reply was lost is not taken for somebody else's. Rejects when `abortSignal` ends the wait.
 */
export async function transactWrite(
  { documentClient, pause }: TableAccess,
  actions: readonly TransactionAction[],
  abortSignal?: AbortSignal,
): Promise<readonly CancellationReason[] | undefined> {
  const command = { TransactItems: [...actions], ClientRequestToken: randomUUID() };
  for (let attempt = 0; ; attempt++) {
    if (attempt > 0) await pause(attempt);
    try {
      await documentClient.send(new TransactWriteCommand(command), present({ abortSignal }));
      return undefined;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      if (reasons.some((reason) => reason.Code === 'ConditionalCheckFailed')) return reasons;
      if (attempt === maxRepetitions || !reasons.some((reason) => repeatable.has(reason.Code ?? ''))) throw error;
    }
  }
}
