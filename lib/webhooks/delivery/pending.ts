import * as v from 'valibot';
import { queueBody } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';
import { eventMessageVersion, type ServiceEvent, ServiceEventSchema } from '../event.ts';

/** An event that comes again: after a failed attempt, on the way to its time, or because its client had no slot free. */
const PendingSchema = v.object({
  event: ServiceEventSchema,
  /** Attempts made. */
  attempts: v.number(),
  firstSeenMs: v.number(),
  dueMs: v.number(),
  /** Times in a row that it was put back without an attempt. */
  yields: v.number(),
});
export type Pending = v.InferOutput<typeof PendingSchema>;

const QueuedSchema = v.union([PendingSchema, ServiceEventSchema]);

export function encodePending(pending: Pending): string {
  return queueBody({ version: eventMessageVersion, ...pending });
}

/**
 * Reads a message of the event queue; `isFresh` when it is a bare event, as those who announce one queue it. Throws when it
 * is neither, and `LaterVersion`.
 */
export function decodeQueued(body: string, nowMs: number): { readonly isFresh: boolean; readonly pending: Pending } {
  const message = v.parse(QueuedSchema, queuedMessage(body, eventMessageVersion));
  if ('event' in message) return { isFresh: false, pending: message };
  return { isFresh: true, pending: { event: message, attempts: 0, firstSeenMs: nowMs, dueMs: nowMs, yields: 0 } };
}

/** The body that a receiver gets: bytes that are the same at every attempt (Standard Webhooks 1.0; D34). */
export function payloadOf({ type, timestampMs, data }: ServiceEvent): string {
  return JSON.stringify({ type, timestamp: new Date(timestampMs).toISOString(), data });
}
