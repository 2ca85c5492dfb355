import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { claimMemorySeconds } from '../dispatch/claim.ts';
import type { JobHead } from '../job.ts';
import type { JobRecords } from './fan-out.ts';

export function jobItemKey(jobId: string): { readonly pk: string; readonly sk: string } {
  return { pk: `JOB#${jobId}`, sk: 'JOB' };
}

/** Partition of the jobs of one DID and UTC day; inside it, jobs sort by acceptance. */
export function pointerPartition(did: string, atMs: number): string {
  return `DID#${did}#${new Date(atMs).toISOString().slice(0, 10)}`;
}

export function pointerSortKey(atMs: number, jobId = ''): string {
  return `${String(atMs).padStart(15, '0')}#${jobId}`;
}

const ProgressSchema = v.object({ progress: v.record(v.string(), v.number()) });

/** Job records of the fan-out. Every write may be repeated. */
export function jobStore(client: DynamoDBDocumentClient, table: string): JobRecords {
  return {
    isCommitted: async (jobId) => {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: { pk: `JOB#${jobId}`, sk: 'COMMIT' }, ConsistentRead: true }),
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

    checkpoint: async (jobId, part, queued) => {
      await client.send(
        new UpdateCommand({
          TableName: table,
          Key: jobItemKey(jobId),
          UpdateExpression: 'SET progress.#part = :queued',
          ExpressionAttributeNames: { '#part': String(part) },
          ExpressionAttributeValues: { ':queued': queued },
        }),
      );
    },
  };

  /** One condition decides between the fan-out and a withdrawal of the acceptance: whoever writes first wins (D25). */
  async function setHead(head: JobHead, expiresAtSeconds: number): Promise<Record<string, number> | undefined> {
    const write = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: jobItemKey(head.jobId),
          UpdateExpression:
            'SET head = :head, expiresAtSeconds = :expiry, progress = if_not_exists(progress, :noProgress)',
          ConditionExpression: 'attribute_not_exists(withdrawnAtMs)',
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
    pk: pointerPartition(head.did, head.acceptedAtMs),
    sk: pointerSortKey(head.acceptedAtMs, head.jobId),
    jobId: head.jobId,
  };
}
