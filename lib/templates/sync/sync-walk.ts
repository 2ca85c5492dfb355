import type { Directory } from '../../access/directory.ts';
import type { DelayedQueue } from '../../aws/sqs-batch.ts';
import { Refusal } from '../../http/refusal.ts';
import { log } from '../../observe/log.ts';
import type { QueuedSync, WalkTurn } from './sync-message.ts';
import { type StartPorts, startSync } from './sync-start.ts';

/**
 * The scheduled synchronization visits all clients in turn. One message carries its position, and one item has the
 * current turn, so that a duplicate message does not double the walk.
 */
export interface SyncWalks {
  /**
   * Takes a turn for a queue message, idempotently for its redelivery. Returns false when this or a later turn belongs
   * to another message. Turn 0 starts a walk, unless another has moved within two hours.
   */
  take(turn: WalkTurn, messageId: string, nowMs: number): Promise<boolean>;
  finish(walkId: string): Promise<void>;
}

/** All five deliveries of a failing message take less time. */
export const walkDeadAfterMs = 2 * 3_600_000;

/**
 * The walk waits this long for another's synchronization: less than the 5 s that a lock is kept, so that it gets its
 * turn beside busy clients.
 */
const lockWaitSeconds = 3;

export interface WalkPorts extends StartPorts {
  readonly directory: Pick<Directory, 'listWabas' | 'listClientIds'>;
  readonly walks: SyncWalks;
  readonly queue: DelayedQueue<QueuedSync>;
}

export interface TurnDelivery {
  readonly messageId: string;
  /** The queue drops the message after this delivery. */
  readonly last: boolean;
}

/**
 * Starts the next client's synchronization, by id, and waits while the lock is held. Skips and logs a client that the
 * platform refuses or whose last delivery fails. Throws on other failures, for a redelivery.
 */
export async function syncNextClient(ports: WalkPorts, turn: WalkTurn, delivery: TurnDelivery): Promise<void> {
  const { id, turn: number, after } = turn;
  if (!(await ports.walks.take(turn, delivery.messageId, ports.nowMs()))) {
    log('sync.walk_skipped', { syncId: id });
    return;
  }
  const clientId = (await ports.directory.listClientIds()).find((each) => each > after);
  if (clientId === undefined) {
    await ports.walks.finish(id);
    log('sync.walk_finished', { syncId: id });
    return;
  }
  try {
    await startSync(ports, { clientId, owner: `${id}#${number}`, walk: { id, turn: number } });
  } catch (error) {
    const code = error instanceof Refusal ? error.code : 'internal_error';
    const passing = code === 'internal_error' || code === 'dispatch_unavailable';
    if (passing && !delivery.last) throw error;
    if (code === 'sync_in_progress') {
      await ports.queue.sendLater({ walk: { id, turn: number + 1, after } }, lockWaitSeconds);
      return;
    }
    log('sync.walk_passed_over', { syncId: id, clientId, code });
    await ports.queue.sendLater({ walk: { id, turn: number + 1, after: clientId } }, 0);
  }
}
