import * as v from 'valibot';
import { queueBody } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';
import { eventMessageVersion, type ServiceEvent, ServiceEventSchema } from '../event.ts';

/** An event on its way to its receiver. */
export interface Pending {
  readonly event: ServiceEvent;
  /** Attempts made. */
  readonly attempts: number;
  readonly firstSeenMs: number;
  /** It is not posted before. */
  readonly dueMs: number;
}

/** Starts a run that looks at what waits for the receiver of a client. */
const WakeSchema = v.object({ wakeClientId: v.number() });

const QueuedSchema = v.union([WakeSchema, ServiceEventSchema]);
export type Queued = v.InferOutput<typeof QueuedSchema>;

export function encodeWake(clientId: number): string {
  return queueBody({ version: eventMessageVersion, wakeClientId: clientId });
}

/** Reads a message of the event queue: a bare event, or a wake. Throws when it is neither, and `LaterVersion`. */
export function decodeQueued(body: string): Queued {
  return v.parse(QueuedSchema, queuedMessage(body, eventMessageVersion));
}

/**
 * An event that has just come. Its place in the list is that of the moment when it happened: a message that comes twice
 * puts it there once.
 */
export function freshPending(event: ServiceEvent, nowMs: number): Pending {
  return { event, attempts: 0, firstSeenMs: nowMs, dueMs: Math.min(event.timestampMs, nowMs) };
}

/** The body that a receiver gets: bytes that are the same at every attempt (Standard Webhooks 1.0; D34). */
export function payloadOf({ type, timestampMs, data }: ServiceEvent): string {
  return JSON.stringify({ type, timestamp: new Date(timestampMs).toISOString(), data });
}
