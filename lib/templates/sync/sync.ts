import type { Directory, Waba } from '../../access/directory.ts';
import type { Pause } from '../../aws/pause.ts';
import type { RefreshChannels } from '../../channels/refresh.ts';
import { present } from '../../keys/present.ts';
import { type LogEvent, log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import { type EventSink, eventId, type ServiceEvent } from '../../webhooks/event.ts';
import type { PlatformTemplates, TemplatePage } from '../model/platform-templates.ts';
import { reportSkipped, type SkippedTemplate } from '../model/skipped-template.ts';
import { SyncLockLost } from '../model/sync-lock-lost.ts';
import type { TemplateStore } from '../model/template-store.ts';
import {
  changesOfGone,
  compareWithPage,
  eventsOfChange,
  type KnownRows,
  keysOfPage,
  knownRows,
  type TemplateChange,
} from './sync-diff.ts';
import { beginKeeping, type KeepLease, type SyncLocks } from './sync-lock.ts';
import type { SyncCounts, SyncMessage } from './sync-message.ts';

export interface SyncPorts {
  readonly directory: Pick<Directory, 'listWabas'>;
  readonly templates: Pick<TemplateStore, 'rowsOf' | 'writeUpstream'>;
  readonly platform: Pick<PlatformTemplates, 'page'>;
  readonly refreshChannels: RefreshChannels;
  readonly locks: SyncLocks;
  readonly events: EventSink;
  readonly nowMs: () => number;
  /** Before a platform call is repeated. */
  readonly pause: Pause;
}

export type SyncResult =
  | { readonly kind: 'finished'; readonly counts: SyncCounts }
  | { readonly kind: 'unfinished'; readonly checkpoint: SyncMessage };

/** With less time than this left, no further page is begun: one page may take three slow answers and its writes. */
const reservedMs = 45_000;
const platformAttempts = 3;
/** So many are queued well within a lease. */
const eventsAtOnce = 1_000;

interface Work extends SyncPorts {
  readonly message: SyncMessage;
  readonly keepLease: KeepLease;
  readonly timeIsShort: () => boolean;
  readonly counts: SyncCounts;
}

type Listing = NonNullable<SyncMessage['listing']>;

/**
 * Does the work of a synchronization (D22) from where the message stands, page after page, with a heartbeat in between.
 * Stops with a checkpoint when time runs short, and releases the lock at the end. A WABA that fails, or whose changes
 * could not be told, is counted and logged and stops no other. Throws `SyncLockLost`.
 */
export async function runSync(ports: SyncPorts, message: SyncMessage, timeLeftMs: () => number): Promise<SyncResult> {
  const keepLease = await beginKeeping(ports.locks, message.lock, ports.nowMs);
  const timeIsShort = () => timeLeftMs() < reservedMs;
  const work: Work = { ...ports, message, keepLease, timeIsShort, counts: { ...message.counts } };
  const wabas = new Map((await ports.directory.listWabas(message.clientId)).map((waba) => [waba.wabaId, waba]));

  for (const [index, wabaId] of message.wabaIds.entries()) {
    if (index > 0 && timeIsShort()) return checkpoint(work, index, undefined);
    const waba = wabas.get(wabaId);
    if (waba === undefined) continue; // the client has left it since the request
    const from = index === 0 ? message.listing : undefined;
    if (from === undefined) await refreshChannels(work, waba);
    if (index > 0 && timeIsShort()) return checkpoint(work, index, undefined);
    const listing = await syncWaba(work, waba, from).catch((error: unknown) => {
      recordFailure(work, 'sync.waba_failed', { wabaId, error });
      work.counts.failedWabas += 1;
      count('SyncWabasFailed');
      return undefined;
    });
    if (listing !== undefined) return checkpoint(work, index, listing);
  }
  // While the lock is held: whoever finds it released takes the work for done, so a crash in between would lose the event.
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

/** What is left to do. The lease is renewed first: it must outlast the way through the queue. */
async function checkpoint(work: Work, wabaIndex: number, listing: Listing | undefined): Promise<SyncResult> {
  const { lock, clientId, wabaIds, walk, correlationId } = work.message;
  if (!(await work.locks.heartbeat(lock, work.nowMs()))) throw new SyncLockLost();
  return {
    kind: 'unfinished',
    checkpoint: {
      lock,
      clientId,
      wabaIds: wabaIds.slice(wabaIndex),
      ...present({ listing }),
      counts: work.counts,
      walk,
      correlationId,
    },
  };
}

/** Before a WABA's templates, and no reason to leave them: when it fails, the next synchronization does it. */
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

/** Throws again what ends the whole synchronization. */
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
    error: nameOf(error),
    ...(error instanceof PlatformFailure ? { outcome: error.kind, platformCode: error.facts.code } : {}),
  });
}

/** One WABA to its end: resolves to undefined; or to where its list stands when time runs short. */
async function syncWaba(work: Work, waba: Waba, from: Listing | undefined): Promise<Listing | undefined> {
  const known = await readKnownRows(work, waba);
  const startedAtMs = from?.startedAtMs ?? work.nowMs();
  const seen = new Set(from?.seen);
  let complete = from?.complete ?? true;
  let after = from?.after;
  do {
    const readAtMs = work.nowMs();
    const page = await readPage(work, waba, after);
    for (const key of keysOfPage(waba.wabaId, page)) {
      if (key === undefined) complete = false;
      else seen.add(key);
    }
    const { changes, skipped } = compareWithPage(waba, known, { page, readAtMs });
    const { written, refused } = await apply(work, changes);
    const passedOver = [...skipped, ...refused];
    reportSkipped(passedOver, { wabaId: waba.wabaId, syncId: work.message.lock.owner });
    work.counts.skipped += passedOver.length;
    work.counts.unchanged += page.templates.length + page.unreadable.length - written - passedOver.length;
    after = page.after;
    if (after !== undefined && work.timeIsShort()) return { after, startedAtMs, seen: [...seen], complete };
  } while (after !== undefined);
  if (complete) await apply(work, changesOfGone(known, seen, startedAtMs));
  return undefined;
}

async function readKnownRows(work: Work, waba: Waba): Promise<KnownRows> {
  const rows = [];
  for (const clientId of waba.clientIds) {
    await work.keepLease();
    rows.push(await work.templates.rowsOf(clientId));
  }
  return knownRows(waba.wabaId, rows.flat());
}

async function readPage(work: Work, waba: Waba, after: string | undefined): Promise<TemplatePage> {
  for (let attempt = 1; ; attempt++) {
    await work.keepLease();
    try {
      return await work.platform.page(waba, after);
    } catch (error) {
      if (attempt === platformAttempts || !mayPass(error)) throw error;
      await work.pause(attempt);
    }
  }
}

/** Reading costs nothing and changes nothing: whatever may pass is tried again. */
function mayPass(error: unknown): boolean {
  return (
    error instanceof PlatformFailure && (error.kind !== 'refused' || error.throttled || error.advice === 'backoff')
  );
}

/**
 * Tells the clients what has changed, before it is written: once it is, nobody sees the difference any more. A crash in
 * between tells it again, under the same id; a failure leaves the rows as they were for the next synchronization to see.
 */
async function tell(work: Work, changes: readonly TemplateChange[]): Promise<void> {
  const occasion = { occasion: work.message.lock.owner, nowMs: work.nowMs() };
  const events = changes.flatMap((change) => eventsOfChange(change, occasion));
  for (let start = 0; start < events.length; start += eventsAtOnce) {
    await work.keepLease();
    await work.events.send(events.slice(start, start + eventsAtOnce));
  }
}

/**
 * Tells and writes changes and counts those that were written; a newer reading in the store stays as it is, and so does what
 * the table does not take.
 */
async function apply(
  work: Work,
  changes: readonly TemplateChange[],
): Promise<{ readonly written: number; readonly refused: readonly SkippedTemplate[] }> {
  await tell(work, changes);
  const { name: lockName, fence } = work.message.lock;
  const refusedKeys = new Set<string>();
  const newer = await work.templates.writeUpstream(
    changes.map((change) => change.write),
    { fence: { lockName, fence }, between: work.keepLease, onRefused: (key) => refusedKeys.add(key) },
  );
  const written = changes.filter(({ templateKey }) => !newer.has(templateKey) && !refusedKeys.has(templateKey));
  for (const { kind } of written) work.counts[kind] += 1;
  const refused = changes.filter(({ templateKey }) => refusedKeys.has(templateKey)).map(refusedByTable);
  return { written: written.length, refused };
}

function refusedByTable({ write, rows }: TemplateChange): SkippedTemplate {
  const platformId = write.kind === 'present' ? write.template.id : rows[0]?.platformId;
  return { platformId, reason: 'refused_by_table' };
}
