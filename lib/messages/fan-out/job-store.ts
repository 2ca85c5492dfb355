import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { storePause } from '../../aws/pause.ts';
import { acceptedOf } from '../accept/accepted-job.ts';
import { putDescription } from '../accept/accepted-job-store.ts';
import { claimMemorySeconds } from '../dispatch/claim.ts';
import { acceptedKey, commitKey, jobKey, jobsOfDayPartition, jobsOfDaySortKey, mayBegin } from '../items.ts';
import type { JobHead } from '../job.ts';
import type { JobRecords } from './fan-out.ts';

const ProgressSchema = v.object({ progress: v.record(v.string(), v.number()) });

/** Job records of the fan-out. Every write may be repeated. */
export function jobStore(client: DynamoDBDocumentClient, table: string): JobRecords {
  return {
    isCommitted: async (jobId) => {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: commitKey(jobId), ConsistentRead: true }),
      );
      return Item !== undefined;
    },

    begin: async (head, part) => {
      const expiresAtSeconds = Math.ceil(head.acceptedAtMs / 1_000) + claimMemorySeconds;
      const progress = await setHead(head, expiresAtSeconds);
      if (progress === undefined) return undefined;
      await client.send(new PutCommand({ TableName: table, Item: { ...pointerOf(head), expiresAtSeconds } }));
      return progress[String(part)] ?? 0;
    },

    describe: async (job) => {
      const { Item } = await client.send(new GetCommand({ TableName: table, Key: acceptedKey(job.head.jobId) }));
      if (Item !== undefined && acceptedOf(Item).whole) return;
      await putDescription({ documentClient: client, tableName: table, pause: storePause }, job);
    },

    checkpoint: async (jobId, part, queued) => {
      await client.send(
        new UpdateCommand({
          TableName: table,
          Key: jobKey(jobId),
          UpdateExpression: 'SET progress.#part = :queued',
          ExpressionAttributeNames: { '#part': String(part) },
          ExpressionAttributeValues: { ':queued': queued },
        }),
      );
    },
  };

  /** Undefined when the job was withdrawn: whoever writes first wins (D25, items.ts). */
  async function setHead(head: JobHead, expiresAtSeconds: number): Promise<Record<string, number> | undefined> {
    const write = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: jobKey(head.jobId),
          UpdateExpression:
            'SET head = :head, expiresAtSeconds = :expiry, progress = if_not_exists(progress, :noProgress)',
          ConditionExpression: mayBegin,
          // As text: attends is unvalidated (D28), and a map takes no 33rd level, no empty name and no large number.
          ExpressionAttributeValues: { ':head': JSON.stringify(head), ':expiry': expiresAtSeconds, ':noProgress': {} },
          ReturnValues: 'ALL_NEW',
        }),
      ),
    );
    return write.written ? v.parse(ProgressSchema, write.output.Attributes).progress : undefined;
  }
}

function pointerOf(head: JobHead): Record<string, unknown> {
  return {
    pk: jobsOfDayPartition(head.did, head.acceptedAtMs),
    sk: jobsOfDaySortKey(head.acceptedAtMs, head.jobId),
    jobId: head.jobId,
  };
}
