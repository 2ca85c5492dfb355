import { storePause } from '../../aws/pause.ts';
import { spendSumsStore } from '../spend/spend-sums-store.ts';
import { messagesTable } from './messages-table.ts';

export function deployedSpendSums() {
  const { client, table } = messagesTable();
  return spendSumsStore({ documentClient: client, tableName: table, pause: storePause });
}
