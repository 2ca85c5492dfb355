import { documents, environmentVariable } from '../../aws/deployed.ts';
import { type Table, tableOf } from '../../aws/table.ts';

export function messagesTable(): Table {
  return tableOf(documents(), environmentVariable('MESSAGES_TABLE'));
}
