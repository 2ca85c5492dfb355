import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { present } from '../../keys/present.ts';
import { batchKey, claimKey, stillClaimed } from '../items.ts';
import { type BatchRecord, type Claim, claimMemorySeconds, type Taken } from './claim.ts';
import type { Claims } from './dispatch-ports.ts';

export const ClaimItemSchema = v.object({
  sk: v.string(),
  state: v.picklist(['claimed', 'sent', 'failed', 'expired', 'unknown']),
  at: v.string(),
  claimedAtMs: v.number(),
  to: v.optional(v.string()),
  code: v.optional(v.string()),
  reason: v.optional(v.string()),
  resolvedAtMs: v.optional(v.number()),
});

/**
 * `sent` has every message that the platform took, `held` those of them that it holds: a reader that knows only `sent`
 * takes them for sent, and records from before there was `held` are read as they are.
 */
const BatchItemSchema = v.object({
  sent: v.record(v.string(), v.string()),
  held: v.optional(v.record(v.string(), v.string()), {}),
});

export function batchRecordOf(item: unknown): BatchRecord {
  const { sent, held } = v.parse(BatchItemSchema, item);
  return Object.fromEntries(
    Object.entries(sent).map(([dispatchId, platformMessageId]): [string, Taken] => {
      const why = held[dispatchId];
      return [dispatchId, why === undefined ? { platformMessageId } : { platformMessageId, held: why }];
    }),
  );
}

function batchItemOf(taken: BatchRecord): { readonly sent: object; readonly held?: object } {
  const entries = Object.entries(taken);
  const held = entries.filter(([, { held: why }]) => why !== undefined);
  return {
    sent: Object.fromEntries(entries.map(([dispatchId, { platformMessageId }]) => [dispatchId, platformMessageId])),
    ...(held.length === 0 ? {} : { held: Object.fromEntries(held.map(([id, { held: why }]) => [id, why])) }),
  };
}

export function claimOf(jobId: string, item: unknown): Claim {
  const { sk, state, at, claimedAtMs, to, code, reason, resolvedAtMs } = v.parse(ClaimItemSchema, item);
  return {
    key: { jobId, index: Number(sk) },
    state,
    at,
    claimedAtMs,
    ...present({ to, code, reason, resolvedAtMs }),
  };
}

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly nowMs: () => number;
}

/**
 * Claims and batch records in the messages table. An item that TTL should have removed and has not is honoured like any
 * other: no read or condition looks at its age (R24).
 */
export function dispatchStore({ client, table, nowMs }: StoreOptions): Claims {
  const expiresAtSeconds = () => Math.ceil(nowMs() / 1_000) + claimMemorySeconds;
  return {
    take: async ({ key, ...facts }) => {
      const write = await conditionalWrite(
        client.send(
          new PutCommand({
            TableName: table,
            Item: { ...claimKey(key), ...facts, expiresAtSeconds: expiresAtSeconds() },
            ConditionExpression: 'attribute_not_exists(pk)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      return write.written ? undefined : claimOf(key.jobId, write.existing);
    },

    release: async (key, at) => {
      await conditionalWrite(
        client.send(
          new DeleteCommand({
            TableName: table,
            Key: claimKey(key),
            ConditionExpression: stillClaimed.condition,
            ExpressionAttributeNames: stillClaimed.names,
            ExpressionAttributeValues: { ':at': at, ':claimed': 'claimed' },
          }),
        ),
      );
    },

    settle: async (key, at, { state, code, reason }) => {
      const { written } = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: claimKey(key),
            UpdateExpression: `SET #state = :state, code = :code${reason === undefined ? '' : ', reason = :reason'}`,
            ConditionExpression: stillClaimed.orSettledSo,
            ExpressionAttributeNames: stillClaimed.names,
            ExpressionAttributeValues: {
              ':at': at,
              ':claimed': 'claimed',
              ':state': state,
              ':code': code,
              ...present({ ':reason': reason }),
            },
          }),
        ),
      );
      return written;
    },

    findBatchRecord: async (invocation) => {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: batchKey(invocation), ConsistentRead: true }),
      );
      return Item === undefined ? undefined : batchRecordOf(Item);
    },

    recordBatch: async (invocation, taken) => {
      await client.send(
        new PutCommand({
          TableName: table,
          Item: { ...batchKey(invocation), ...batchItemOf(taken), expiresAtSeconds: expiresAtSeconds() },
        }),
      );
    },
  };
}
