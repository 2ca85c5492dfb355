import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { clockSkewMs, type HeldLock, leaseMs, type SyncLocks } from './sync-lock.ts';

/** The lock's item as DynamoDB returns it with a failed condition, where the document client leaves it unconverted. */
const RefusedItemSchema = v.object({ owner: v.object({ S: v.string() }), fence: v.object({ N: v.string() }) });

/** The lease of a lock that its holder has given back. */
const released = 0;

/**
 * The synchronization lock as one item. It is never deleted and never expires: its fencing number must not start again.
 */
export function syncLockStore(documentClient: DynamoDBDocumentClient, tableName: string): SyncLocks {
  return {
    acquire: async ({ name, owner, nowMs }) => {
      try {
        const { Attributes } = await documentClient.send(
          new UpdateCommand({
            TableName: tableName,
            Key: keyOf(name),
            UpdateExpression: 'SET #owner = :owner, leaseUntilMs = :until, startedAtMs = :now ADD fence :one',
            ConditionExpression:
              'attribute_not_exists(leaseUntilMs) OR leaseUntilMs = :released OR leaseUntilMs < :endedBefore',
            ExpressionAttributeNames: { '#owner': 'owner' },
            ExpressionAttributeValues: {
              ':owner': owner,
              ':until': nowMs + leaseMs,
              ':now': nowMs,
              ':one': 1,
              ':released': released,
              ':endedBefore': nowMs - clockSkewMs,
            },
            ReturnValues: 'ALL_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return { name, owner, fence: v.parse(v.number(), Attributes?.['fence']) };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        // The SDK repeats a request whose reply was lost: the holder that refuses us may be ourselves.
        const holder = v.parse(RefusedItemSchema, error.Item);
        return holder.owner.S === owner ? { name, owner, fence: Number(holder.fence.N) } : undefined;
      }
    },
    heartbeat: (lock, nowMs) => setLease({ documentClient, tableName }, lock, nowMs + leaseMs),
    release: async (lock) => {
      await setLease({ documentClient, tableName }, lock, released);
    },
  };
}

async function setLease(
  { documentClient, tableName }: { readonly documentClient: DynamoDBDocumentClient; readonly tableName: string },
  lock: HeldLock,
  leaseUntilMs: number,
): Promise<boolean> {
  try {
    await documentClient.send(
      new UpdateCommand({
        TableName: tableName,
        Key: keyOf(lock.name),
        UpdateExpression: 'SET leaseUntilMs = :until',
        ConditionExpression: '#owner = :owner AND fence = :fence AND leaseUntilMs > :released',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: {
          ':owner': lock.owner,
          ':fence': lock.fence,
          ':until': leaseUntilMs,
          ':released': released,
        },
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

function keyOf(name: string): { pk: string; sk: string } {
  return { pk: `LOCK#${name}`, sk: 'LOCK' };
}
