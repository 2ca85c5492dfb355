import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, queryPartition, type TableAccess } from '../../aws/dynamodb-batch.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import { jobExpiresAtSeconds, jobKey, jobOfPartition, receiptPartition, unknownMarkKey } from '../items.ts';
import { JobHeadSchema } from '../job.ts';
import { JobStateSchema } from '../job-state.ts';
import { keptReceipt, receiptItems, receiptsOf } from './receipt-items.ts';
import type { HeadOfJob, ReceiptRecords } from './receipt-ports.ts';

/** A job that was withdrawn before it began has no head. */
const JobItemSchema = v.object({
  pk: v.string(),
  head: v.optional(v.pipe(v.string(), v.parseJson(), JobHeadSchema)),
  erased: JobStateSchema.entries.erased,
});

export function receiptStore(messages: TableAccess): ReceiptRecords {
  const readAll = (keys: Parameters<typeof batchGet>[1]) => batchGet(messages, keys, { consistent: true });
  return {
    findHeads: async (jobIds) => {
      const heads = new Map<string, HeadOfJob | 'unreadable'>();
      for (const item of await readAll(jobIds.map(jobKey))) {
        const parsed = v.safeParse(JobItemSchema, item);
        if (!parsed.success) {
          heads.set(jobOfPartition(item['pk']), 'unreadable');
          continue;
        }
        const { head, erased } = parsed.output;
        if (head !== undefined) heads.set(head.jobId, { ...head, ...omitUndefined({ erased }) });
      }
      return heads;
    },

    append: async (head, receipts) => {
      const expiresAtSeconds = jobExpiresAtSeconds(head);
      const kept = receipts.map((receipt) => keptReceipt(receipt, head));
      const items = receiptItems(head.jobId, kept, expiresAtSeconds);
      const { documentClient, tableName } = messages;
      await Promise.all(items.map((Item) => documentClient.send(new PutCommand({ TableName: tableName, Item }))));
    },

    jobsWithUnknown: async (jobIds) => {
      const items = await readAll(jobIds.map(unknownMarkKey));
      return new Set(items.map((item) => jobOfPartition(item['pk'])));
    },

    ofGroup: async (jobId, group) =>
      (await queryPartition(messages, receiptPartition(jobId, group))).flatMap(receiptsOf),
  };
}
