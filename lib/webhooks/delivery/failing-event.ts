import { eventId, type ServiceEvent } from '../event.ts';
import { failingNotifiedAfterMs } from './delivery-state.ts';

/**
 * Tells a client that its receiver fails, once for each run of failures (D34). Everything in it comes from the start of
 * that run, so a repetition after a crash has the same id, body and place in the list.
 */
export function failingEvent(clientId: number, sinceMs: number): ServiceEvent {
  return {
    id: eventId('webhook.failing', clientId, [sinceMs]),
    clientId,
    type: 'webhook.failing',
    timestampMs: sinceMs + failingNotifiedAfterMs,
    data: { since: new Date(sinceMs).toISOString() },
  };
}
