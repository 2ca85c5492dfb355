import { applyAccountUpdates } from '../holds/account-updates.ts';
import { holdStore } from '../holds/hold-store.ts';
import { messagesTable } from './messages-table.ts';

export function deployedAccountUpdates() {
  const { client, table, nowMs } = messagesTable();
  const { change } = holdStore({ client, table, nowMs });
  return { applyAccountUpdates: applyAccountUpdates({ changeHolds: change, nowMs }) };
}
