import type { Directory, Waba } from '../../access/directory.ts';
import { Refusal } from '../../http/refusal.ts';
import { correlationId } from '../../observe/correlation.ts';
import { log } from '../../observe/log.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import { refusalOf } from '../../platform/refusals.ts';
import type { PlatformTemplates } from '../model/platform-templates.ts';
import { type SyncLockScope, type SyncLocks, syncLockName } from './sync-lock.ts';
import { noCounts, type SyncMessage, type SyncQueue } from './sync-message.ts';

export interface StartPorts {
  readonly directory: Pick<Directory, 'listWabas'>;
  readonly platform: Pick<PlatformTemplates, 'probe'>;
  readonly locks: SyncLocks;
  readonly queue: SyncQueue;
  readonly lockScope: SyncLockScope;
  readonly nowMs: () => number;
}

/**
 * Starts the synchronization of a client's WABAs (D22): takes the lock, probes the platform, queues the work. Refuses
 * with 409 while another runs or comes first (sync-lock-state.ts), else with 502 or 429, and frees the lock.
 */
export async function startSync(
  ports: StartPorts,
  { clientId, owner, walk }: { readonly clientId: number; readonly owner: string; readonly walk?: SyncMessage['walk'] },
): Promise<void> {
  const wabas = await ports.directory.listWabas(clientId);
  const name = syncLockName(ports.lockScope, clientId);
  const contender = walk === undefined ? `client ${clientId}` : 'walk';
  const acquired = await ports.locks.acquire({ name, owner, contender, nowMs: ports.nowMs() });
  if (acquired === undefined) throw new Refusal('sync_in_progress', 'a synchronization is already in progress');
  const { again, ...lock } = acquired;
  try {
    await firstAnswer(ports.platform, wabas);
    const wabaIds = wabas.map((waba) => waba.wabaId);
    const counts = noCounts;
    await enqueue(ports.queue, { lock, clientId, wabaIds, counts, walk, correlationId: correlationId() });
    log('sync.started', { syncId: lock.owner, fence: lock.fence, clientId });
  } catch (error) {
    // An earlier delivery of the turn may have queued the work under this lock. If not, its lease ends.
    if (walk !== undefined && again === true) throw error;
    // If this fails too, the lease ends by itself; the caller gets the first failure.
    await ports.locks.release(lock, ports.nowMs()).catch(() => log('sync.release_failed', { syncId: owner, clientId }));
    throw error;
  }
}

/**
 * One WABA must answer. A refused one (its own credential) does not stop the others, but an unreachable or throttling
 * platform is not asked again.
 */
async function firstAnswer(platform: Pick<PlatformTemplates, 'probe'>, wabas: readonly Waba[]): Promise<void> {
  let firstFailure: PlatformFailure | undefined;
  for (const waba of wabas) {
    try {
      await platform.probe(waba);
      return;
    } catch (error) {
      if (!(error instanceof PlatformFailure)) throw error;
      if (error.kind !== 'refused' || error.throttled) throw refusalOf(error);
      firstFailure ??= error;
    }
  }
  if (firstFailure !== undefined) throw refusalOf(firstFailure);
}

async function enqueue(queue: SyncQueue, message: SyncMessage): Promise<void> {
  try {
    await queue.send(message);
  } catch (cause) {
    throw new Refusal('dispatch_unavailable', 'the synchronization could not be queued', { cause });
  }
}
