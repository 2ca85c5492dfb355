import type { Directory } from '../../access/directory.ts';
import { Refusal } from '../../http/refusal.ts';
import { log } from '../../observe/log.ts';
import type { SyncQueue, WalkTurn } from './sync-message.ts';
import { type StartPorts, startSync } from './sync-start.ts';

/**
 * The scheduled synchronization walks all clients, one after another. Where it stands travels through the sync queue, in
 * one message at a time; one item says whose turn it is, so that a message that was doubled does not double the walk.
 */
export interface SyncWalks {
  /**
   * Takes a turn for the queue message `messageId`, which may be delivered again and again. False when a later turn was
   * taken, or this one by another message. Turn 0 begins a walk: false while another walk is under way, unless that has
   * not moved for two hours; then it has died, and the new one takes its place.
   */
  take(turn: WalkTurn, messageId: string, nowMs: number): Promise<boolean>;
  finish(walkId: string): Promise<void>;
}

/** Longer than the five deliveries of a message that keeps failing take. */
export const walkDeadAfterMs = 2 * 3_600_000;

/**
 * How long the walk waits for somebody else's synchronization before it looks again: less than the 5 s for which the lock is
 * kept for those who wait, so that it gets its turn beside clients that ask again and again.
 */
const lockWaitSeconds = 3;

export interface WalkPorts extends StartPorts {
  readonly directory: Pick<Directory, 'listWabas' | 'listClientIds'>;
  readonly walks: SyncWalks;
  readonly queue: SyncQueue;
}

/** One delivery of a turn's queue message. */
export interface TurnDelivery {
  readonly messageId: string;
  /** The queue gives the message up after this one. */
  readonly last: boolean;
}

/**
 * One step of the walk: starts the synchronization of the next client, in order of their ids. Waits while another one holds
 * the lock; a client whom the platform refuses is logged and passed over. Throws when something else fails, and the message
 * must be delivered again; a client with whom it fails to the last delivery is passed over too.
 */
export async function takeTurn(ports: WalkPorts, turn: WalkTurn, delivery: TurnDelivery): Promise<void> {
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
      await ports.queue.sendTurn({ id, turn: number + 1, after }, lockWaitSeconds);
      return;
    }
    log('sync.walk_passed_over', { syncId: id, clientId, code });
    await ports.queue.sendTurn({ id, turn: number + 1, after: clientId }, 0);
  }
}
