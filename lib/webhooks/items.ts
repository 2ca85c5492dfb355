import type { ItemKey } from '../aws/item-key.ts';

/*
 * The webhooks table: everything of a client is in one partition.
 *
 *   its configuration     CLIENT#<client> / CONFIG                  config-store.ts
 *   how deliveries stand  CLIENT#<client> / DELIVERY                delivery-state-store.ts; a new configuration forgets failures
 *   an event              CLIENT#<client> / EVENT#<ms>#<event id>   event-record-store.ts; for seven days
 */

export function clientPartition(clientId: number): string {
  return `CLIENT#${clientId}`;
}

export function configKey(clientId: number): ItemKey {
  return { pk: clientPartition(clientId), sk: 'CONFIG' };
}

export function deliveryKey(clientId: number): ItemKey {
  return { pk: clientPartition(clientId), sk: 'DELIVERY' };
}

export function eventKey(event: {
  readonly clientId: number;
  readonly timestampMs: number;
  readonly id: string;
}): ItemKey {
  return { pk: clientPartition(event.clientId), sk: `${eventsAt(event.timestampMs)}#${event.id}` };
}

/** The sort keys between which the events of a time lie, both ends included. */
export function eventsBetween(sinceMs: number, untilMs: number): { readonly from: string; readonly to: string } {
  // `$` comes after the separator of the last millisecond.
  return { from: eventsAt(sinceMs), to: `${eventsAt(untilMs)}$` };
}

function eventsAt(timeMs: number): string {
  return `EVENT#${String(timeMs).padStart(15, '0')}`;
}
