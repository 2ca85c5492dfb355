import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { walkKey } from '../model/items.ts';
import { type SyncWalks, walkDeadAfterMs } from './sync-walk.ts';

const again = 'turn = :turn AND messageId = :messageId';
const goesOn = `walkId = :id AND active = :yes AND (turn < :turn OR (${again}))`;
/** A schedule may deliver twice (at-least-once), so a walk of the same id never restarts. */
const begins = `attribute_not_exists(walkId) OR (walkId <> :id AND (active = :no OR movedAtMs < :deadSince))
  OR (walkId = :id AND active = :yes AND ${again})`;

export function syncWalkStore(documentClient: DynamoDBDocumentClient, tableName: string): SyncWalks {
  return {
    take: async ({ id, turn }, messageId, nowMs) => {
      const { written } = await conditionalWrite(
        documentClient.send(
          new UpdateCommand({
            TableName: tableName,
            Key: walkKey,
            UpdateExpression: 'SET walkId = :id, turn = :turn, messageId = :messageId, active = :yes, movedAtMs = :now',
            ConditionExpression: turn === 0 ? begins : goesOn,
            ExpressionAttributeValues: {
              ':id': id,
              ':turn': turn,
              ':messageId': messageId,
              ':yes': true,
              ':now': nowMs,
              ...(turn === 0 ? { ':no': false, ':deadSince': nowMs - walkDeadAfterMs } : {}),
            },
          }),
        ),
      );
      return written;
    },

    finish: async (walkId) => {
      await conditionalWrite(
        documentClient.send(
          new UpdateCommand({
            TableName: tableName,
            Key: walkKey,
            UpdateExpression: 'SET active = :no',
            ConditionExpression: 'walkId = :id',
            ExpressionAttributeValues: { ':no': false, ':id': walkId },
          }),
        ),
      );
    },
  };
}
