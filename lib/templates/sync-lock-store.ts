import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { clockSkewMs, type HeldLock, leaseMs, type SyncLocks } from './sync-lock.ts';

const LockItemSchema = v.object({ owner: v.string(), fence: v.number() });

/** The lease of a lock that its holder has given back. */
const released = 0;

/**
 * The synchronization lock as one item. It is never deleted and never expires: its fencing number must not start again.
 */
export function syncLockStore(documentClient: DynamoDBDocumentClient, tableName: string): SyncLocks {
  return {
    acquire: async ({ name, owner, nowMs }) => {
      const write = await conditionalWrite(
        documentClient.send(
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
        ),
      );
      // The SDK repeats a request whose reply was lost: the holder that refuses us may be ourselves.
      const holder = v.parse(LockItemSchema, write.written ? write.output.Attributes : write.existing);
      return holder.owner === owner ? { name, owner, fence: holder.fence } : undefined;
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
  const { written } = await conditionalWrite(
    documentClient.send(
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
    ),
  );
  return written;
}

function keyOf(name: string): { pk: string; sk: string } {
  return { pk: `LOCK#${name}`, sk: 'LOCK' };
}
