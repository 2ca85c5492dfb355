import * as v from 'valibot';
import { queueBody } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';

/** Deliveries after which the queue gives a message up (the queue's maxReceiveCount). */
export const syncDeliveries = 5;

/** What a synchronization has done so far. */
const SyncCountsSchema = v.object({
  created: v.number(),
  updated: v.number(),
  deleted: v.number(),
  unchanged: v.number(),
  failedWabas: v.number(),
  /** Templates that are there and cannot be held. */
  skipped: v.number(),
  /** Channels with new values of the platform, and WABAs whose numbers could not be read or their channels written. */
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
 * A synchronization on its way: who holds the lock for it, and where it stands. The first message is queued by the request,
 * every further one by a worker whose time ran short, as its checkpoint.
 */
const SyncMessageSchema = v.object({
  lock: v.object({ name: v.string(), owner: v.string(), fence: v.number() }),
  clientId: v.number(),
  /** WABAs that are not finished, the current one first. */
  wabaIds: v.array(v.string()),
  /** How far the list of the current WABA is read; absent before its first page. */
  listing: v.optional(
    v.object({
      after: v.string(),
      startedAtMs: v.number(),
      /** Keys of the templates listed so far. */
      seen: v.array(v.string()),
      /** False once an entry could not even be named: then nothing can be told to be gone. */
      complete: v.boolean(),
    }),
  ),
  counts: SyncCountsSchema,
  /** The walk that goes on when this synchronization has ended, and its turn. */
  walk: v.optional(v.object({ id: v.string(), turn: v.number() })),
  correlationId: v.optional(v.string()),
});
export type SyncMessage = v.InferOutput<typeof SyncMessageSchema>;

/** A turn of the scheduled walk over all clients: turns count up, and the clients up to `after` have had theirs. */
const WalkTurnSchema = v.object({ id: v.string(), turn: v.number(), after: v.number() });
export type WalkTurn = v.InferOutput<typeof WalkTurnSchema>;

/** What the sync queue carries. */
const QueuedSyncSchema = v.union([SyncMessageSchema, v.object({ walk: WalkTurnSchema })]);
export type QueuedSync = v.InferOutput<typeof QueuedSyncSchema>;

/** The format in which synchronizations and walks are queued now (D47). */
const syncVersion = 1;

export function encodeSync(message: QueuedSync): string {
  return queueBody({ version: syncVersion, ...message });
}

/** Reads a message of the sync queue. Throws when it is not one that `encodeSync` makes, and `LaterVersion`. */
export function decodeSync(body: string): QueuedSync {
  return v.parse(QueuedSyncSchema, queuedMessage(body, syncVersion));
}

/** Where the messages go. Throws when the queue did not take one. */
export interface SyncQueue {
  send(message: SyncMessage): Promise<void>;
  sendTurn(turn: WalkTurn, delaySeconds: number): Promise<void>;
}
