import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGet, type TableAccess } from '../../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../../aws/pause.ts';
import type { RowLookup, RowName } from './document.ts';
import { rowKey } from './items.ts';
import { rowFromItem } from './row.ts';

export interface RowStore {
  /** Makes one strongly consistent round trip: 100 rows a request, the requests side by side. */
  findRows(names: readonly RowName[]): Promise<RowLookup>;
}

export function rowStore(
  documentClient: DynamoDBDocumentClient,
  tableName: string,
  pause: Pause = storePause,
): RowStore {
  const table: TableAccess = { client: documentClient, name: tableName, pause };
  return {
    findRows: async (names) => {
      const keys = [...new Map(names.map((name) => [textOf(name), rowKey(name.clientId, name.templateKey)])).values()];
      const items = await batchGet(table, keys, { consistent: true });
      const rows = new Map(items.map(rowFromItem).map((row) => [textOf(row), row]));
      return (name) => rows.get(textOf(name));
    },
  };
}

function textOf({ clientId, templateKey }: RowName): string {
  return `${clientId} ${templateKey}`;
}
