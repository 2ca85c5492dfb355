import type { Directory, Waba } from '../../access/directory.ts';
import type { RefreshChannels } from '../../channels/refresh.ts';
import { errorName } from '../../observe/error-name.ts';
import { type LogEvent, log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import { eventId, type ServiceEvent } from '../../webhooks/event.ts';
import { SyncLockLost } from '../model/sync-lock-lost.ts';
import { type Comparison, type ComparisonPorts, compareWaba, type Listing } from './compare-waba.ts';
import { type SyncLocks, startHeartbeat } from './sync-lock.ts';
import type { SyncCounts, SyncMessage } from './sync-message.ts';

export interface SyncPorts extends ComparisonPorts {
  readonly directory: Pick<Directory, 'listWabas'>;
  readonly refreshChannels: RefreshChannels;
  readonly locks: SyncLocks;
}

export type SyncResult =
  | { readonly kind: 'finished'; readonly counts: SyncCounts }
  | { readonly kind: 'unfinished'; readonly checkpoint: SyncMessage };

/** No page starts with less time left: it may take three slow answers and its writes. */
const reservedMs = 45_000;

interface Work extends SyncPorts, Comparison {
  readonly message: SyncMessage;
}

/**
 * Continues a synchronization (D22). It stops with a checkpoint when time runs short, and finally releases the lock. A
 * failing WABA is counted, logged and skipped. Throws `SyncLockLost`.
 */
export async function runSync(ports: SyncPorts, message: SyncMessage, timeLeftMs: () => number): Promise<SyncResult> {
  const keepLease = await startHeartbeat(ports.locks, message.lock, ports.nowMs);
  const timeIsShort = () => timeLeftMs() < reservedMs;
  const { name: lockName, owner: syncId, fence } = message.lock;
  const counts = { ...message.counts };
  const work: Work = { ...ports, message, keepLease, timeIsShort, counts, fence: { lockName, fence }, syncId };
  const wabas = new Map((await ports.directory.listWabas(message.clientId)).map((waba) => [waba.wabaId, waba]));

  for (const [index, wabaId] of message.wabaIds.entries()) {
    if (index > 0 && timeIsShort()) return checkpoint(work, index, undefined);
    const waba = wabas.get(wabaId);
    // The client has left the WABA since the request.
    if (waba === undefined) continue;
    const from = index === 0 ? message.listing : undefined;
    if (from === undefined) await refreshChannels(work, waba);
    if (index > 0 && timeIsShort()) return checkpoint(work, index, undefined);
    const listing = await compareWaba(work, waba, from).catch((error: unknown) => {
      recordFailure(work, 'sync.waba_failed', { wabaId, error });
      work.counts.failedWabas += 1;
      // A refused credential has its own alarm (`PlatformCredentialRefused`).
      if (!(error instanceof PlatformFailure && error.credentialRefused)) count('SyncWabasFailed');
      return undefined;
    });
    if (listing !== undefined) return checkpoint(work, index, listing);
  }
  // The event is sent before the release: a retry that finds the lock released takes the work as done, so a crash in
  // between would lose the event.
  await ports.events.send([completed(work)]);
  await ports.locks.release(message.lock, ports.nowMs());
  return { kind: 'finished', counts: work.counts };
}

function completed({ message: { lock, clientId }, counts, nowMs }: Work): ServiceEvent {
  const { created, updated, deleted, unchanged, skipped, failedWabas: failed_wabas } = counts;
  const timestampMs = nowMs();
  const sync = { client_id: clientId, sync_id: lock.owner, finished_at: new Date(timestampMs).toISOString() };
  const data = { ...sync, created, updated, deleted, unchanged, skipped, failed_wabas };
  return { id: eventId('sync.completed', clientId, [lock.owner]), clientId, type: 'sync.completed', timestampMs, data };
}

/** Returns the remaining work. The lease is renewed, because it must outlast the queue. */
async function checkpoint(work: Work, wabaIndex: number, listing: Listing | undefined): Promise<SyncResult> {
  const { lock, clientId, wabaIds, walk, correlationId } = work.message;
  if (!(await work.locks.heartbeat(lock, work.nowMs()))) throw new SyncLockLost();
  return {
    kind: 'unfinished',
    checkpoint: {
      lock,
      clientId,
      wabaIds: wabaIds.slice(wabaIndex),
      listing,
      counts: work.counts,
      walk,
      correlationId,
    },
  };
}

/** Runs before the templates. A failure does not stop them, and the next synchronization repeats it. */
async function refreshChannels(work: Work, waba: Waba): Promise<void> {
  const mayGoOn = async () => {
    await work.keepLease();
    return !work.timeIsShort();
  };
  try {
    work.counts.refreshedChannels += await work.refreshChannels(waba, mayGoOn);
  } catch (error) {
    work.counts.failedRefreshes += 1;
    recordFailure(work, 'sync.channels_failed', { wabaId: waba.wabaId, error });
  }
}

/** Rethrows what ends the whole synchronization. */
function recordFailure(
  work: Work,
  event: LogEvent,
  failed: { readonly wabaId: string; readonly error: unknown },
): void {
  const { wabaId, error } = failed;
  if (error instanceof SyncLockLost) throw error;
  log(event, {
    syncId: work.message.lock.owner,
    wabaId,
    error: errorName(error),
    ...(error instanceof PlatformFailure ? { outcome: error.kind, platformCode: error.facts.code } : {}),
  });
}
