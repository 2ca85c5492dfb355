import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { startMs } from './sending.ts';
import { localDocumentClient } from './stores.ts';

/** Returns the body of a send to these recipients, by default of a template without parameters. */
export function sendRequest(recipients: readonly string[], name = 'plain', params?: object) {
  return {
    ...({ did: '5491100000001', type: 'template', channel: 'MESSAGING' } as const),
    template: { name, language: 'en_US' },
    recipients: recipients.map((to) => ({ to, params })),
  };
}

/** Reads the dispatches of the table as acceptance has stored them. */
export function storedDispatches(table: string) {
  return acceptedDispatchesStore(tableOf(localDocumentClient(), table, { nowMs: () => startMs }));
}
