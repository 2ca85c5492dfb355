import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { queryPages } from '../../aws/dynamodb-batch.ts';
import type { UnknownOutcomes } from '../dispatch/chunk-ports.ts';
import { placeInSlice, sliceOf, sliceSize } from '../dispatch/claims/slice.ts';
import { jobExpiresAtSeconds, receiptGroupOf, receiptPartition, unknownMarkKey } from '../items.ts';
import { coalescedReads } from './coalesced-reads.ts';
import { receiptsOf } from './receipt-items.ts';

/** Forgetting a marked job costs a write. */
const rememberedJobs = 1_000;

/**
 * A process marks each job once, also for concurrent slices, and retries a failed mark. Concurrent slices share one
 * strong read of receipts.
 */
export function unknownOutcomesStore(client: DynamoDBDocumentClient, table: string): UnknownOutcomes {
  const marks = new Map<string, Promise<void>>();
  const indexesOf = coalescedReads((partition) => indexesWithReceipts(client, table, partition));
  return {
    mark: async (job) => {
      const known = marks.get(job.jobId);
      if (known !== undefined) return await known;
      if (marks.size >= rememberedJobs) marks.clear();
      const expiresAtSeconds = jobExpiresAtSeconds(job);
      const write = client.send(
        new PutCommand({ TableName: table, Item: { ...unknownMarkKey(job.jobId), expiresAtSeconds } }),
      );
      const mark = write.then(() => undefined);
      marks.set(job.jobId, mark);
      mark.catch(() => marks.delete(job.jobId));
      await mark;
    },

    proven: async ({ jobId, slice }) => {
      // A group of receipts holds whole slices.
      const indexes = await indexesOf(receiptPartition(jobId, receiptGroupOf(slice * sliceSize)));
      const ofSlice = [...indexes].filter((index) => sliceOf({ jobId, index }).slice === slice);
      return new Set(ofSlice.map(placeInSlice));
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
