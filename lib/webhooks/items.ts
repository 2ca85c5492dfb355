import type { ItemKey } from '../aws/item-key.ts';

/* Everything of a client is in one partition of the webhooks table. */

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

/** Orders keys as posts. */
export function waitingKey({ event, dueMs }: { readonly event: EventOfClient; readonly dueMs: number }): ItemKey {
  return { pk: clientPartition(event.clientId), sk: `${waitingPrefix}${paddedMs(dueMs)}#${event.id}` };
}

export const waitingPrefix = 'WAITS#';

/** Returns the range of sort keys for a period, both ends included. */
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
