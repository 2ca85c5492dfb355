import type { ItemKey } from '../aws/item-key.ts';

/*
 * The webhooks table: everything of a client is in one partition.
 *
 *   its configuration     CLIENT#<client> / CONFIG                  config-store.ts
 *   how deliveries stand  CLIENT#<client> / DELIVERY                delivery-state-store.ts; a new configuration forgets failures
 *   an event              CLIENT#<client> / EVENT#<ms>#<event id>   event-record-store.ts; for seven days
 *   an event that waits   CLIENT#<client> / WAITS#<ms>#<event id>   waiting-store.ts; by the time when it is due
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

interface EventOfClient {
  readonly clientId: number;
  readonly id: string;
}

export function eventKey(event: EventOfClient & { readonly timestampMs: number }): ItemKey {
  return { pk: clientPartition(event.clientId), sk: `${eventsAt(event.timestampMs)}#${event.id}` };
}

/** An event in the list of what waits for a client's receiver: in the order of these keys it is posted. */
export function waitingKey({ event, dueMs }: { readonly event: EventOfClient; readonly dueMs: number }): ItemKey {
  return { pk: clientPartition(event.clientId), sk: `${waitingPrefix}${paddedMs(dueMs)}#${event.id}` };
}

export const waitingPrefix = 'WAITS#';

/** The sort keys between which the events of a time lie, both ends included. */
export function eventsBetween(sinceMs: number, untilMs: number): { readonly from: string; readonly to: string } {
  // `$` comes after the separator of the last millisecond.
  return { from: eventsAt(sinceMs), to: `${eventsAt(untilMs)}$` };
}

function eventsAt(timeMs: number): string {
  return `EVENT#${paddedMs(timeMs)}`;
}

function paddedMs(timeMs: number): string {
  return String(timeMs).padStart(15, '0');
}
