import { storePause } from '../../aws/pause.ts';
import { replacedIdReader, replacedIdWriter } from '../inbound/replaced-ids-store.ts';
import { messagesTable } from './messages-table.ts';

export function deployedReplacedIdReader() {
  const { client, table } = messagesTable();
  return replacedIdReader({ documentClient: client, tableName: table, pause: storePause });
}

export function deployedReplacedIdWriter() {
  const { client, table } = messagesTable();
  return replacedIdWriter({ documentClient: client, tableName: table });
}
