import { documents, environmentVariable } from '../../aws/deployed.ts';
import { storePause } from '../../aws/pause.ts';
import type { Table } from '../../aws/table.ts';

export function messagesTable(): Table {
  return { client: documents(), name: environmentVariable('MESSAGES_TABLE'), nowMs: Date.now, pause: storePause };
}
