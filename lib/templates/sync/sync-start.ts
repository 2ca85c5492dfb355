import type { Directory, Waba } from '../../access/directory.ts';
import { forEachConcurrently } from '../../aws/concurrently.ts';
import type { DelayedQueue } from '../../aws/sqs-batch.ts';
import { Refusal } from '../../http/refusal.ts';
import { correlationId } from '../../observe/correlation.ts';
import { log } from '../../observe/log.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import { refusalOf } from '../../platform/refusals.ts';
import type { PlatformTemplates } from '../model/platform-templates.ts';
import { type SyncLockScope, type SyncLocks, syncLockName } from './sync-lock.ts';
import { noCounts, type QueuedSync, type SyncMessage } from './sync-message.ts';

export interface StartPorts {
  readonly directory: Pick<Directory, 'listWabas'>;
  readonly platform: Pick<PlatformTemplates, 'probe'>;
  readonly locks: SyncLocks;
  readonly queue: DelayedQueue<QueuedSync>;
  readonly lockScope: SyncLockScope;
  readonly nowMs: () => number;
}

export interface StartedSync {
  readonly wabaIds: readonly string[];
  /** These WABAs did not answer. The worker asks them again. */
  readonly silentIds: readonly string[];
}

/** With so many at once, three times as many silent WABAs cost less time than a request has. */
const probesAtOnce = 20;

/**
 * Starts the synchronization of a client's WABAs (D22): takes the lock, asks each WABA, queues the work. Refuses with
 * 409 while another runs or comes first (sync-lock-state.ts), else with 502 or 429, and frees the lock.
 */
export async function startSync(
  ports: StartPorts,
  { clientId, owner, walk }: { readonly clientId: number; readonly owner: string; readonly walk?: SyncMessage['walk'] },
): Promise<StartedSync> {
  const wabas = await ports.directory.listWabas(clientId);
  const name = syncLockName(ports.lockScope, clientId);
  const contender = walk === undefined ? `client ${clientId}` : 'walk';
  const acquired = await ports.locks.acquire({ name, owner, contender, nowMs: ports.nowMs() });
  if (acquired === undefined) throw new Refusal('sync_in_progress', 'a synchronization is already in progress');
  const { again, ...lock } = acquired;
  try {
    const silentIds = await silentWabas(ports.platform, wabas);
    const wabaIds = wabas.map((waba) => waba.wabaId);
    const counts = noCounts;
    await enqueue(ports.queue, { lock, clientId, wabaIds, counts, walk, correlationId: correlationId() });
    log('sync.started', { syncId: lock.owner, fence: lock.fence, clientId });
    return { wabaIds, silentIds };
  } catch (error) {
    // An earlier delivery of the turn may have queued the work under this lock. If not, its lease ends.
    if (walk !== undefined && again === true) throw error;
    // If this fails too, the lease ends by itself; the caller gets the first failure.
    await ports.locks.release(lock, ports.nowMs()).catch(() => log('sync.release_failed', { syncId: owner, clientId }));
    throw error;
  }
}

/** Says that it has started, and which WABAs it may not read (D22). */
export function startMessage({ wabaIds, silentIds }: StartedSync): string {
  const started = 'the synchronization has started';
  if (wabaIds.length === 0) return `${started}; the client has no WABA, so there is nothing to read`;
  if (silentIds.length === 0) return started;
  return `${started}; of the client's ${wabaIds.length} WABAs the platform does not answer for ${silentIds.join(', ')}`;
}

/** Returns the WABAs without an answer, for whatever reason. Throws the refusal of the first when none answers. */
async function silentWabas(
  platform: Pick<PlatformTemplates, 'probe'>,
  wabas: readonly Waba[],
): Promise<readonly string[]> {
  const failures = new Map<string, PlatformFailure>();
  await forEachConcurrently(wabas, probesAtOnce, async (waba) => {
    try {
      await platform.probe(waba);
    } catch (error) {
      if (!(error instanceof PlatformFailure)) throw error;
      failures.set(waba.wabaId, error);
    }
  });
  const silentIds = wabas.map(({ wabaId }) => wabaId).filter((wabaId) => failures.has(wabaId));
  const [first] = silentIds.flatMap((wabaId) => failures.get(wabaId) ?? []);
  if (first !== undefined && silentIds.length === wabas.length) throw refusalOf(first);
  return silentIds;
}

async function enqueue(queue: DelayedQueue<QueuedSync>, message: SyncMessage): Promise<void> {
  try {
    await queue.sendLater(message, 0);
  } catch (cause) {
    throw new Refusal('dispatch_unavailable', 'the synchronization could not be queued', { cause });
  }
}
