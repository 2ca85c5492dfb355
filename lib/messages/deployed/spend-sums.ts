import { spendSumsStore } from '../spend/spend-sums-store.ts';
import { messagesTable } from './messages-table.ts';

export function deployedSpendSums() {
  return spendSumsStore(messagesTable());
}
