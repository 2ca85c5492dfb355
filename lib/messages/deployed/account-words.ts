import { takeAccountWords } from '../holds/account-word.ts';
import { holdStore } from '../holds/hold-store.ts';
import { messagesTable } from './messages-table.ts';

export function deployedAccountWords() {
  const { client, table, nowMs } = messagesTable();
  const { change } = holdStore({ client, table, nowMs });
  return { takeAccountWords: takeAccountWords({ changeHolds: change, nowMs }) };
}
