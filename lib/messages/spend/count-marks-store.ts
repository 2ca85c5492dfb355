import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, type TableAccess } from '../../aws/dynamodb-batch.ts';
import { countKey, jobExpiresAtSeconds, jobOfPartition, spentKey } from '../items.ts';
import type { CountReceiptsPorts } from './count-receipts.ts';
import type { CountMarks } from './later-counts.ts';
import { statementOf } from './statement.ts';

const MarkSchema = v.object({ dueMs: v.number() });

export function countMarksStore(client: DynamoDBDocumentClient, TableName: string): CountMarks {
  return {
    dueMs: async (jobId) => {
      const { Item } = await client.send(new GetCommand({ TableName, Key: countKey(jobId), ConsistentRead: true }));
      return Item === undefined ? undefined : v.parse(MarkSchema, Item).dueMs;
    },

    mark: async (job, dueMs) => {
      const Item = { ...countKey(job.jobId), dueMs, expiresAtSeconds: jobExpiresAtSeconds(job) };
      await client.send(new PutCommand({ TableName, Item }));
    },
  };
}

/** Reads statements of jobs, a hundred per request. */
export function statedCosts(messages: TableAccess): CountReceiptsPorts['stated'] {
  return async (jobIds) => {
    const items = await batchGet(messages, jobIds.map(spentKey), { consistent: true });
    return new Map(items.map((item) => [jobOfPartition(item['pk']), statementOf(item)]));
  };
}
