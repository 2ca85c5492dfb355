import type { RunningStack } from '../../infra/local/stack.ts';
import { type EventType, eventTypes } from '../../lib/webhooks/event.ts';
import { recordInBulk } from '../support/bulk-receipts.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { report } from './figure.ts';
import { benchTable } from './template-tables.ts';

const messages = 10_000;

/**
 * Measures three receipts of each of 10,000 messages, shuffled and half of them doubled, for a client with all events.
 */
export async function benchReceipts(stack: RunningStack): Promise<void> {
  const { documentClient: client, tableName: table } = await benchTable(stack, 'receipts', 'messages');
  const events = new MemoryEvents();
  const wanted = async () => new Set(eventTypes as EventType[]);
  const bulk = { client, table, dispatchId: 'RECEIPTS', messages, wanted, events };
  const { receipts, writes, lost, eventsLost, eventsUnexpected } = await recordInBulk(bulk);
  report({ figure: 'receipts.writes_per_receipt', value: writes / receipts, limit: 0.1, unit: 'requests' });
  report({ figure: 'receipts.events_unexpected', value: eventsUnexpected, limit: 0, unit: 'events' });
  report({ figure: 'receipts.events_lost', value: eventsLost, limit: 0, unit: 'events' });
  report({ figure: 'receipts.messages_lost', value: lost, limit: 0, unit: 'messages' });
}
