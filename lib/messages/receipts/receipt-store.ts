import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { batchGet, queryPartition } from '../../aws/dynamodb-batch.ts';
import type { Pause } from '../../aws/pause.ts';
import { type BatchRecord, type Claim, claimMemorySeconds } from '../dispatch/claim.ts';
import { batchRecordOf, claimOf } from '../dispatch/claim-items.ts';
import {
  batchKey,
  claimKey,
  doubtKey,
  invocationOfBatch,
  jobKey,
  jobOfClaims,
  jobOfPartition,
  receiptPartition,
  stillClaimed,
} from '../items.ts';
import { dispatchIdOf, type JobHead, JobHeadSchema } from '../job.ts';
import { receiptItems, receiptsOf } from './receipt-items.ts';
import type { ReceiptRecords } from './receipt-ports.ts';
import type { ProvenClaims } from './record-ports.ts';

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly pause: Pause;
}

/** A job that was withdrawn before it began has no head. */
const JobItemSchema = v.object({ pk: v.string(), head: v.optional(v.pipe(v.string(), v.parseJson(), JobHeadSchema)) });

/** What runs of receipts read and write in the messages table. Every read is strongly consistent, every write repeatable. */
export function receiptStore({ client, table, pause }: StoreOptions): ReceiptRecords & Omit<ProvenClaims, 'take'> {
  const messages = { documentClient: client, tableName: table, pause };
  const readAll = (keys: Parameters<typeof batchGet>[1]) => batchGet(messages, keys, { consistent: true });
  return {
    findHeads: async (jobIds) => {
      const heads = new Map<string, JobHead | 'unreadable'>();
      for (const item of await readAll(jobIds.map(jobKey))) {
        const parsed = v.safeParse(JobItemSchema, item);
        if (!parsed.success) heads.set(jobOfPartition(item['pk']), 'unreadable');
        else if (parsed.output.head !== undefined) heads.set(parsed.output.head.jobId, parsed.output.head);
      }
      return heads;
    },

    append: async ({ jobId, acceptedAtMs }, receipts) => {
      const expiresAtSeconds = Math.ceil(acceptedAtMs / 1_000) + claimMemorySeconds;
      const items = receiptItems(jobId, receipts, expiresAtSeconds);
      await Promise.all(items.map((Item) => client.send(new PutCommand({ TableName: table, Item }))));
    },

    doubtfulJobs: async (jobIds) => {
      const items = await readAll(jobIds.map(doubtKey));
      return new Set(items.map((item) => jobOfPartition(item['pk'])));
    },

    findClaims: async (keys) => {
      const items = await readAll(keys.map(claimKey));
      return new Map(
        items.map((item): [string, Claim] => {
          const claim = claimOf(jobOfClaims(item['pk']), item);
          return [dispatchIdOf(claim.key), claim];
        }),
      );
    },

    findBatchRecords: async (invocations) => {
      const items = await readAll(invocations.map(batchKey));
      return new Map(items.map((item): [string, BatchRecord] => [invocationOfBatch(item['pk']), batchRecordOf(item)]));
    },

    settleSeen: async ({ key, at, state: seen }, { state, code, resolvedAtMs }) => {
      const { written } = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: claimKey(key),
            UpdateExpression: `SET #state = :state, code = :code${resolvedAtMs === undefined ? '' : ', resolvedAtMs = :now'} REMOVE reason`,
            ConditionExpression: stillClaimed.asSeen,
            ExpressionAttributeNames: stillClaimed.names,
            ExpressionAttributeValues: {
              ':state': state,
              ':code': code,
              ':at': at,
              ':seen': seen,
              ...(resolvedAtMs === undefined ? {} : { ':now': resolvedAtMs }),
            },
          }),
        ),
      );
      return written;
    },

    ofGroup: async (jobId, group) =>
      (await queryPartition(messages, receiptPartition(jobId, group))).flatMap(receiptsOf),
  };
}
