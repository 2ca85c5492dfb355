import { storePause } from '../../aws/pause.ts';
import { replacedIdsStore } from '../accept/replaced-ids-store.ts';
import { messagesTable } from './messages-table.ts';

/** The user ids that the platform has replaced. */
export function deployedReplacedIds() {
  const { client, table } = messagesTable();
  return replacedIdsStore({ documentClient: client, tableName: table, pause: storePause });
}
