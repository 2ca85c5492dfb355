import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type TableAccess, type TransactionAction, transactionsOf, transactWrite } from '../../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../../aws/pause.ts';
import { rowKey } from '../model/items.ts';
import { documentsText, rowFromItem, statusText, type TemplateRow } from '../model/row.ts';
import type { StatusChange } from './bulk-status.ts';

export interface RefusedChange {
  readonly change: StatusChange;
  /** The row is as it is now, undefined when it is gone. */
  readonly current: TemplateRow | undefined;
}

export interface StatusStore {
  /**
   * Writes changes by compare-and-set and returns the refused ones: 100 a transaction, in one round trip without
   * conflicts. Transaction tokens make retries idempotent.
   */
  setActive(changes: readonly StatusChange[]): Promise<RefusedChange[]>;
}

export function statusStore(
  documentClient: DynamoDBDocumentClient,
  tableName: string,
  pause: Pause = storePause,
): StatusStore {
  const table: TableAccess = { client: documentClient, name: tableName, pause };
  return {
    setActive: async (changes) => {
      return (await Promise.all(transactionsOf(changes).map((chunk) => writeChunk(table, chunk)))).flat();
    },
  };
}

/** One refused condition cancels the whole transaction, so the others are written again without it. */
async function writeChunk(table: TableAccess, changes: readonly StatusChange[]): Promise<RefusedChange[]> {
  const refused: RefusedChange[] = [];
  let pending = changes;
  while (pending.length > 0) {
    const reasons = await transactWrite(
      table,
      pending.map((change) => actionOf(table.name, change)),
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

/** Enabling depends on status and assignments, so they must be unchanged. */
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
