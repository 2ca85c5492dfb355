import { documents, environmentVariable } from '../../aws/deployed.ts';

/** The messages table of this deployment, and the clock. */
export function messagesTable() {
  return { client: documents(), table: environmentVariable('MESSAGES_TABLE'), nowMs: Date.now };
}
