import { randomUUID } from 'node:crypto';
import { type CancellationReason, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { forEachConcurrently } from './concurrently.ts';
import { maxBatchKeys, maxBatchWrites, maxTransactionActions } from './dynamodb-limits.ts';
import type { ItemKey } from './item-key.ts';
import { OutOfReach } from './out-of-reach.ts';
import { maxRepetitions } from './pause.ts';
import type { Table } from './table.ts';

export type Item = Readonly<Record<string, unknown>>;
type BatchWrites = NonNullable<BatchWriteCommandInput['RequestItems']>[string];
export type TransactionAction = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

export type TableAccess = Pick<Table, 'client' | 'name' | 'pause'>;

/** Queries need no retries here. */
export type QueriedTable = Pick<Table, 'client' | 'name'>;

/**
 * Returns the existing items of distinct keys, unordered: 100 a request, side by side. Unprocessed keys are retried;
 * after `maxRepetitions` it throws, because a part must not pass for the whole (R32).
 */
export async function batchGet(
  table: TableAccess,
  keys: readonly ItemKey[],
  read: { readonly consistent: boolean },
): Promise<Item[]> {
  return (await Promise.all(chunksOf(keys, maxBatchKeys).map((chunk) => getChunk(table, chunk, read)))).flat();
}

async function getChunk(
  table: TableAccess,
  keys: readonly ItemKey[],
  read: { readonly consistent: boolean },
): Promise<readonly Item[]> {
  return (await batchGetAcross(table, { [table.name]: keys }, read))[table.name] ?? [];
}

/**
 * Returns the existing items of distinct keys by the names of their tables: at most 100 keys, in one request. Does with
 * unprocessed keys as `batchGet`.
 */
export async function batchGetAcross(
  { client, pause }: Pick<TableAccess, 'client' | 'pause'>,
  keys: Readonly<Record<string, readonly ItemKey[]>>,
  read: { readonly consistent: boolean },
): Promise<Readonly<Record<string, readonly Item[]>>> {
  const found: Record<string, Item[]> = {};
  let wanted: (readonly [table: string, keys: readonly Item[]])[] = Object.entries(keys).map(([table, of]) => [
    table,
    of.map((key) => ({ ...key })),
  ]);
  for (let attempt = 0; ; attempt++) {
    wanted = wanted.filter(([, { length }]) => length > 0);
    if (wanted.length === 0) return found;
    if (attempt > maxRepetitions) {
      const left = wanted.map(([table, { length }]) => `${length} keys of ${table}`).join(' and ');
      throw new OutOfReach(`${left} stayed unprocessed`);
    }
    if (attempt > 0) await pause(attempt);
    const RequestItems = Object.fromEntries(
      wanted.map(([table, of]) => [table, { Keys: [...of], ConsistentRead: read.consistent }]),
    );
    const { Responses = {}, UnprocessedKeys = {} } = await client.send(new BatchGetCommand({ RequestItems }));
    for (const [table, items] of Object.entries(Responses)) found[table] = [...(found[table] ?? []), ...items];
    wanted = Object.entries(UnprocessedKeys).map(([table, { Keys = [] }]) => [table, Keys]);
  }
}

/** No item is larger than 400 KB, so 25 are below the 16 MB of a request. */
const batchesAtOnce = 4;

/**
 * Puts items under distinct keys: 25 a request, side by side, each made when its request is next. Unprocessed ones are
 * retried; after `maxRepetitions`, and on `abortSignal`, it throws, with some perhaps written.
 */
export async function batchPut(table: TableAccess, items: Iterable<Item>, abortSignal?: AbortSignal): Promise<void> {
  await forEachConcurrently(batchesOf(items), batchesAtOnce, (batch) => putBatch(table, batch, abortSignal));
}

function* batchesOf(items: Iterable<Item>): Generator<Item[]> {
  let batch: Item[] = [];
  for (const item of items) {
    if (batch.push(item) < maxBatchWrites) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function putBatch(
  { client, name, pause }: TableAccess,
  items: readonly Item[],
  abortSignal: AbortSignal | undefined,
): Promise<void> {
  let left: BatchWrites = items.map((item) => ({ PutRequest: { Item: { ...item } } }));
  for (let attempt = 0; left.length > 0; attempt++) {
    if (attempt > maxRepetitions) throw new OutOfReach(`${left.length} items of ${name} stayed unprocessed`);
    if (attempt > 0) await pause(attempt);
    const write = new BatchWriteCommand({ RequestItems: { [name]: left } });
    const reply = await client.send(write, { abortSignal });
    left = reply.UnprocessedItems?.[name] ?? [];
  }
}

export function transactionsOf<Change>(changes: readonly Change[]): Change[][] {
  return chunksOf(changes, maxTransactionActions);
}

function chunksOf<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

/** DynamoDB's own pages of 1 MB can exceed an attempt's time-out on a busy machine. */
const maxPageItems = 2_500;

/** Sort keys have a prefix, or are in a range, both ends included. */
export type SortKeys = { readonly prefix: string } | { readonly from: string; readonly to: string };

/**
 * Returns the items of a partition by sort key, page by page. A page is read on demand, and has `pageItems` at most.
 */
export async function* queryPages(
  { client, name }: QueriedTable,
  partition: string,
  {
    sort,
    consistent,
    pageItems = maxPageItems,
  }: { readonly sort: SortKeys | undefined; readonly consistent: boolean; readonly pageItems?: number },
): AsyncGenerator<Item[]> {
  let start: Item | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: name,
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

/** Returns all items of a partition, or those that `sort` selects, strongly consistent. */
export async function queryPartition(table: TableAccess, partition: string, sort?: SortKeys): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of queryPages(table, partition, { sort, consistent: true })) {
    for (const item of page) items.push(item);
  }
  return items;
}

const repeatable = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/**
 * Writes all or nothing; returns the actions' reasons when a condition failed. Conflicts and throttles are retried with
 * one token, so that a lost reply is no conflict. Throws after `maxRepetitions`, on other errors, and on `abortSignal`.
 */
export async function transactWrite(
  { client, pause }: TableAccess,
  actions: readonly TransactionAction[],
  abortSignal?: AbortSignal,
): Promise<readonly CancellationReason[] | undefined> {
  const command = { TransactItems: [...actions], ClientRequestToken: randomUUID() };
  for (let attempt = 0; ; attempt++) {
    if (attempt > 0) await pause(attempt);
    try {
      await client.send(new TransactWriteCommand(command), { abortSignal });
      return undefined;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      if (reasons.some((reason) => reason.Code === 'ConditionalCheckFailed')) return reasons;
      if (attempt === maxRepetitions || !reasons.some((reason) => repeatable.has(reason.Code ?? ''))) throw error;
    }
  }
}
