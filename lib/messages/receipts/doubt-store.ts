import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { queryPages } from '../../aws/dynamodb-batch.ts';
import { claimMemorySeconds } from '../dispatch/claim.ts';
import type { Doubts } from '../dispatch/dispatch-ports.ts';
import { doubtKey, receiptGroupOf, receiptPartition } from '../items.ts';
import { receiptsOf } from './receipt-items.ts';
import { sharedReads } from './shared-reads.ts';

/** Jobs that one instance remembers having marked; forgetting one costs a write. */
const rememberedJobs = 1_000;

/**
 * The doubts of the dispatch in the messages table. A job is marked once by an instance, also when all messages of a batch
 * ask for it at once; a mark that failed is tried again by the next that asks.
 */
export function doubtStore(client: DynamoDBDocumentClient, table: string): Doubts {
  const marks = new Map<string, Promise<void>>();
  const indexesOf = sharedReads((partition) => indexesWithReceipts(client, table, partition));
  return {
    mark: async ({ jobId, acceptedAtMs }) => {
      const known = marks.get(jobId);
      if (known !== undefined) return await known;
      if (marks.size >= rememberedJobs) marks.clear();
      const expiresAtSeconds = Math.ceil(acceptedAtMs / 1_000) + claimMemorySeconds;
      const write = client.send(new PutCommand({ TableName: table, Item: { ...doubtKey(jobId), expiresAtSeconds } }));
      const mark = write.then(() => undefined);
      marks.set(jobId, mark);
      mark.catch(() => marks.delete(jobId));
      await mark;
    },

    hasReceipt: async ({ jobId, index }) => {
      return (await indexesOf(receiptPartition(jobId, receiptGroupOf(index)))).has(index);
    },
  };
}

async function indexesWithReceipts(
  documentClient: DynamoDBDocumentClient,
  tableName: string,
  partition: string,
): Promise<ReadonlySet<number>> {
  const indexes = new Set<number>();
  const pages = queryPages({ documentClient, tableName }, partition, { sort: undefined, consistent: true });
  for await (const items of pages) {
    for (const { index } of items.flatMap(receiptsOf)) indexes.add(index);
  }
  return indexes;
}
