import * as v from 'valibot';
import { queueBody } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';
import { eventMessageVersion, type ServiceEvent, ServiceEventSchema } from '../event.ts';

export interface Pending {
  readonly event: ServiceEvent;
  readonly attempts: number;
  readonly firstSeenMs: number;
  readonly dueMs: number;
}

/** A wake starts a run for a client's waiting events. */
const WakeSchema = v.object({ wakeClientId: v.number() });

const QueuedSchema = v.union([WakeSchema, ServiceEventSchema]);
export type Queued = v.InferOutput<typeof QueuedSchema>;

export function encodeWake(clientId: number): string {
  return queueBody({ version: eventMessageVersion, wakeClientId: clientId });
}

/** Parses a message of the event queue: a bare event, or a wake. Throws on other text, and `LaterVersion`. */
export function decodeQueued(body: string): Queued {
  return v.parse(QueuedSchema, queuedMessage(body, eventMessageVersion));
}

/** Places a new event in the list by its own time, so that a duplicate message puts it there once. */
export function freshPending(event: ServiceEvent, nowMs: number): Pending {
  return { event, attempts: 0, firstSeenMs: nowMs, dueMs: Math.min(event.timestampMs, nowMs) };
}

/** Returns the body for a receiver: the same bytes at every attempt (Standard Webhooks 1.0; D34). */
export function payloadOf({ type, timestampMs, data }: ServiceEvent): string {
  return JSON.stringify({ type, timestamp: new Date(timestampMs).toISOString(), data });
}
