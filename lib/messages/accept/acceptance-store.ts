import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { storePause } from '../../aws/pause.ts';
import { present } from '../../keys/present.ts';
import { claimMemorySeconds } from '../dispatch/claim.ts';
import { commitKey, jobKey, mayBegin, mayWithdraw } from '../items.ts';
import type { DispatchMessage } from '../job.ts';
import { headOfStraight, recipientOfStraight } from '../straight-message.ts';
import { type AcceptedJob, pointerOf } from './accepted-job.ts';
import { putDescription } from './accepted-job-store.ts';

/** Decides whether a job counts, when the queue alone cannot say it, and describes the job that counts. */
export interface AcceptanceRecords {
  /**
   * Confirms a job in parts: all of them are queued. The fan-out works on no part before (D25). Rejects when `signal` ends
   * the wait; the commit may be written nevertheless.
   */
  commit(jobId: string, signal: AbortSignal): Promise<void>;
  /**
   * Takes a job back, unless it has begun: `withdrawn` means that nothing of it will be sent, whatever is in the queue;
   * `begun` that all of it will be. Both sides write the same item under a condition, so exactly one of them comes first.
   * May be repeated.
   */
  withdraw(jobId: string, signal?: AbortSignal): Promise<'withdrawn' | 'begun'>;
  /**
   * Begins the job of a straight message, so that it is sent and found, unless it was taken back. May be repeated, by the
   * acceptance and by whoever claims the message: either writes the same.
   */
  begin(message: DispatchMessage, signal?: AbortSignal): Promise<'begun' | 'withdrawn'>;
  /** Writes down what the report of an accepted job opens with (D40). May be repeated. */
  describe(job: AcceptedJob, signal: AbortSignal): Promise<void>;
}

/** Commits and withdrawals in the messages table; items.ts says who may write which. */
export function acceptanceStore(client: DynamoDBDocumentClient, table: string, nowMs: () => number): AcceptanceRecords {
  const expiresAtSeconds = () => Math.ceil(nowMs() / 1_000) + claimMemorySeconds;
  return {
    commit: async (jobId, abortSignal) => {
      const item = { ...commitKey(jobId), committedAtMs: nowMs(), expiresAtSeconds: expiresAtSeconds() };
      await client.send(new PutCommand({ TableName: table, Item: item }), { abortSignal });
    },

    withdraw: async (jobId, abortSignal) => {
      const { written } = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: jobKey(jobId),
            ConditionExpression: mayWithdraw,
            UpdateExpression: 'SET withdrawnAtMs = :nowMs, expiresAtSeconds = :expiresAtSeconds',
            ExpressionAttributeValues: { ':nowMs': nowMs(), ':expiresAtSeconds': expiresAtSeconds() },
          }),
          present({ abortSignal }),
        ),
      );
      return written ? 'withdrawn' : 'begun';
    },

    begin: async (message, abortSignal) => {
      const head = headOfStraight(message);
      const expiry = Math.ceil(head.acceptedAtMs / 1_000) + claimMemorySeconds;
      // First, so that what has begun is in the list; the list leaves out what was taken back.
      const pointer = { ...pointerOf(head, head.total), expiresAtSeconds: expiry };
      await client.send(new PutCommand({ TableName: table, Item: pointer }), present({ abortSignal }));
      const { written } = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: jobKey(head.jobId),
            ConditionExpression: mayBegin,
            UpdateExpression: 'SET head = :head, #to = :to, expiresAtSeconds = :expiry',
            ExpressionAttributeNames: { '#to': 'to' },
            ExpressionAttributeValues: {
              ':head': JSON.stringify(head),
              ':to': recipientOfStraight(message),
              ':expiry': expiry,
            },
          }),
          present({ abortSignal }),
        ),
      );
      return written ? 'begun' : 'withdrawn';
    },

    describe: async (job, abortSignal) => {
      await putDescription({ documentClient: client, tableName: table, pause: storePause }, job, abortSignal);
    },
  };
}
