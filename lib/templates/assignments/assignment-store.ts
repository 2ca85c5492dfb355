import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type ConditionalWrite, conditionalWrite } from '../../aws/conditional-write.ts';
import { type Pause, storePause } from '../../aws/pause.ts';
import { rowKey } from '../model/items.ts';
import { documentsText, rowFromItem, type TemplateRow } from '../model/row.ts';

export interface AssignmentStore {
  /**
   * Changes only a row's documents, under an optimistic lock. After a conflict it applies `change` again, which must be
   * idempotent, so racing calls all take effect. Returns undefined when the template was deleted.
   */
  update(row: TemplateRow, change: (current: TemplateRow) => TemplateRow): Promise<TemplateRow | undefined>;
}

/** Each lost race is another call's success, so dozens of contenders all succeed within seconds. */
const maxAttempts = 40;
const longestPause = 4;

export function assignmentStore(
  documentClient: DynamoDBDocumentClient,
  tableName: string,
  pause: Pause = storePause,
): AssignmentStore {
  const write = (from: TemplateRow, to: TemplateRow) =>
    conditionalWrite(
      documentClient.send(
        new UpdateCommand({
          TableName: tableName,
          Key: rowKey(from.clientId, from.templateKey),
          UpdateExpression: 'SET d = :documents, k = :next',
          ConditionExpression: 'd = :documentsAsRead AND k = :nextAsRead AND attribute_not_exists(g)',
          ExpressionAttributeValues: {
            ':documents': documentsText(to),
            ':next': to.nextSequence,
            ':documentsAsRead': documentsText(from),
            ':nextAsRead': from.nextSequence,
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
  return {
    update: async (row, change) => {
      let current = row;
      for (let attempt = 1; ; attempt++) {
        const changed = change(current);
        if (documentsText(changed) === documentsText(current)) return current;
        const outcome = await unlessInTransaction(write(current, changed));
        if (outcome?.written === true) return changed;
        if (outcome !== undefined) {
          if (outcome.existing === undefined) return undefined;
          current = rowFromItem(outcome.existing);
          if (current.deleted) return undefined;
        }
        if (attempt === maxAttempts) throw new Error(`the documents of ${row.templateKey} stayed contended`);
        await pause(Math.min(attempt, longestPause));
      }
    },
  };
}

/** Returns undefined when a transaction of a synchronization held the row: nothing was written (R32). */
async function unlessInTransaction<T>(write: Promise<ConditionalWrite<T>>): Promise<ConditionalWrite<T> | undefined> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof TransactionConflictException) return undefined;
    throw error;
  }
}
