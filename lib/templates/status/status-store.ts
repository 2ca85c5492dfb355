import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type TableAccess, type TransactionAction, transactionsOf, transactWrite } from '../../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../../aws/pause.ts';
import { rowKey } from '../model/items.ts';
import { documentsText, rowFromItem, statusText, type TemplateRow } from '../model/row.ts';
import type { StatusChange } from './bulk-status.ts';

/** A change that was not written, because its row is no longer as it was read. */
export interface RefusedChange {
  readonly change: StatusChange;
  /** The row as it is now; undefined when there is none. */
  readonly current: TemplateRow | undefined;
}

/** The `active` flag of clients' rows. */
export interface StatusStore {
  /**
   * Writes the changes whose rows are as they were read, each under its own condition, and returns the others. At most
   * 100 a transaction, the transactions side by side: one round trip when nothing has changed in between. A transaction
   * is known by its token, so a lost reply does not make a change look like somebody else's.
   */
  setActive(changes: readonly StatusChange[]): Promise<RefusedChange[]>;
}

export function statusStore(
  documentClient: DynamoDBDocumentClient,
  tableName: string,
  pause: Pause = storePause,
): StatusStore {
  const table: TableAccess = { documentClient, tableName, pause };
  return {
    setActive: async (changes) => {
      return (await Promise.all(transactionsOf(changes).map((chunk) => writeChunk(table, chunk)))).flat();
    },
  };
}

/** One refused condition cancels the whole transaction: the others are written again without it. */
async function writeChunk(table: TableAccess, changes: readonly StatusChange[]): Promise<RefusedChange[]> {
  const refused: RefusedChange[] = [];
  let pending = changes;
  while (pending.length > 0) {
    const reasons = await transactWrite(
      table,
      pending.map((change) => actionOf(table.tableName, change)),
    );
    if (reasons === undefined) break;
    const rest: StatusChange[] = [];
    for (const [index, change] of pending.entries()) {
      const reason = reasons[index];
      if (reason?.Code !== 'ConditionalCheckFailed') rest.push(change);
      else
        refused.push({ change, current: reason.Item === undefined ? undefined : rowFromItem(unmarshall(reason.Item)) });
    }
    pending = rest;
  }
  return refused;
}

/** Enabling rests on the template's status and assignments: they must still be as they were read. */
function actionOf(tableName: string, { row, active }: StatusChange): TransactionAction {
  const conditions = ['a = :activeAsRead', 'attribute_not_exists(g)'];
  if (active) conditions.push('s = :statusAsRead', 'd = :documentsAsRead');
  return {
    Update: {
      TableName: tableName,
      Key: rowKey(row.clientId, row.templateKey),
      UpdateExpression: 'SET a = :active',
      ConditionExpression: conditions.join(' AND '),
      ExpressionAttributeValues: {
        ':active': active,
        ':activeAsRead': row.active,
        ...(active ? { ':statusAsRead': statusText(row), ':documentsAsRead': documentsText(row) } : {}),
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
}
