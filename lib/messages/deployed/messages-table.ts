import { documents, environmentVariable } from '../../aws/deployed.ts';

export function messagesTable() {
  return { client: documents(), table: environmentVariable('MESSAGES_TABLE'), nowMs: Date.now };
}
