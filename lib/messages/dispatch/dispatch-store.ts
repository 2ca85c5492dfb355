import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { present } from '../../keys/present.ts';
import { batchKey, claimKey, stillClaimed } from '../items.ts';
import { claimMemorySeconds } from './claim.ts';
import { batchItemOf, batchRecordOf, claimOf } from './claim-items.ts';
import type { Claims } from './dispatch-ports.ts';

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
