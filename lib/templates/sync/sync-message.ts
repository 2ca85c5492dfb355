import * as v from 'valibot';
import { queueBody } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';

/** The queue's maxReceiveCount has this value. */
export const syncDeliveries = 5;

const SyncCountsSchema = v.object({
  created: v.number(),
  updated: v.number(),
  deleted: v.number(),
  unchanged: v.number(),
  failedWabas: v.number(),
  /** These templates exist upstream and cannot be stored. */
  skipped: v.number(),
  /** Channels got new values of the platform; WABAs are those whose channels could not be read or written. */
  refreshedChannels: v.number(),
  failedRefreshes: v.number(),
});
export type SyncCounts = v.InferOutput<typeof SyncCountsSchema>;

export const noCounts: SyncCounts = {
  created: 0,
  updated: 0,
  deleted: 0,
  unchanged: 0,
  failedWabas: 0,
  skipped: 0,
  refreshedChannels: 0,
  failedRefreshes: 0,
};

/**
 * The request queues the first message of a synchronization, with lock and position; a worker whose time runs short
 * queues the next one, as a checkpoint.
 */
const SyncMessageSchema = v.object({
  lock: v.object({ name: v.string(), owner: v.string(), fence: v.number() }),
  clientId: v.number(),
  /** These WABAs are unfinished, the current one first. */
  wabaIds: v.array(v.string()),
  /** The current WABA's list was read up to this position, absent before its first page. */
  listing: v.optional(
    v.object({
      after: v.string(),
      startedAtMs: v.number(),
      seen: v.array(v.string()),
      /** False says that an entry had no readable name: then no template counts as gone. */
      complete: v.boolean(),
    }),
  ),
  counts: SyncCountsSchema,
  /** The walk's turn continues after this synchronization. */
  walk: v.optional(v.object({ id: v.string(), turn: v.number() })),
  correlationId: v.optional(v.string()),
});
export type SyncMessage = v.InferOutput<typeof SyncMessageSchema>;

/** Clients up to `after` are done. */
const WalkTurnSchema = v.object({ id: v.string(), turn: v.number(), after: v.number() });
export type WalkTurn = v.InferOutput<typeof WalkTurnSchema>;

const QueuedSyncSchema = v.union([SyncMessageSchema, v.object({ walk: WalkTurnSchema })]);
export type QueuedSync = v.InferOutput<typeof QueuedSyncSchema>;

/** Queued messages carry this version (D47). */
const syncVersion = 1;

export function encodeSync(message: QueuedSync): string {
  return queueBody({ version: syncVersion, ...message });
}

/** Parses a message of the sync queue. Throws on other text, and `LaterVersion`. */
export function decodeSync(body: string): QueuedSync {
  return v.parse(QueuedSyncSchema, queuedMessage(body, syncVersion));
}

/** Returns the message group: the client, so that none crowds out others. */
export function syncGroup(message: QueuedSync): string {
  return 'clientId' in message ? String(message.clientId) : 'walk';
}
