import type { Waba } from '../../access/directory.ts';
import type { Pause } from '../../aws/pause.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import type { EventSink } from '../../webhooks/event.ts';
import type { NameAndLanguage, PlatformTemplates, TemplatePage } from '../model/platform-templates.ts';
import { reportSkipped, type SkippedTemplate } from '../model/skipped-template.ts';
import type { PlatformTemplate, StoredFact } from '../model/template.ts';
import { templateKey } from '../model/template-key.ts';
import type { TemplateStore } from '../model/template-store.ts';
import type { SyncFence } from '../model/upstream-writes.ts';
import {
  changesOfGone,
  compareWithPage,
  eventsOfChange,
  type KnownRows,
  keysOfPage,
  knownRows,
  mayChangeStatus,
  type TemplateChange,
} from './sync-diff.ts';
import type { KeepLease } from './sync-lock.ts';
import type { SyncCounts, SyncMessage } from './sync-message.ts';

export interface ComparisonPorts {
  readonly templates: Pick<TemplateStore, 'rowsOf' | 'storedFacts' | 'writeUpstream'>;
  readonly platform: Pick<PlatformTemplates, 'page'>;
  readonly events: EventSink;
  readonly nowMs: () => number;
  /** Platform calls are retried after this backoff. */
  readonly pause: Pause;
}

export interface Comparison extends ComparisonPorts {
  /** The work calls it between any two steps; it throws to end the work. */
  readonly keepLease: KeepLease;
  readonly timeIsShort: () => boolean;
  readonly counts: SyncCounts;
  /** The synchronization has this fence. Writes without one are guarded by the reading's time alone. */
  readonly fence?: SyncFence;
  readonly syncId?: string;
}

export type Listing = NonNullable<SyncMessage['listing']>;

const platformAttempts = 3;
/** Such a batch fits well within a lease. */
const eventsAtOnce = 1_000;

/**
 * Walks the platform's list of a WABA and takes over differences (D22). Templates missing from a complete list get a
 * tombstone. Resolves to its position when time runs short. Throws `PlatformFailure`, or `keepLease`'s error.
 */
export async function compareWaba(
  work: Comparison,
  waba: Waba,
  from: Listing | undefined,
): Promise<Listing | undefined> {
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
    await takePage(work, waba, known, { page, readAtMs });
    after = page.after;
    if (after !== undefined && work.timeIsShort()) return { after, startedAtMs, seen: [...seen], complete };
  } while (after !== undefined);
  if (complete) await apply(work, changesOfGone(known, seen, startedAtMs));
  return undefined;
}

async function takePage(
  work: Comparison,
  waba: Waba,
  known: KnownRows,
  { page, readAtMs }: { readonly page: TemplatePage; readonly readAtMs: number },
): Promise<void> {
  const { changes, skipped } = compareWithPage(waba, known, { page, readAtMs });
  const { written, refused } = await apply(work, changes);
  const passedOver = [...skipped, ...refused];
  reportSkipped(passedOver, { wabaId: waba.wabaId, syncId: work.syncId });
  work.counts.skipped += passedOver.length;
  work.counts.unchanged += page.templates.length + page.unreadable.length - written - passedOver.length;
}

export interface TemplateComparison extends Comparison {
  readonly platform: Pick<PlatformTemplates, 'page' | 'read' | 'lookUp'>;
  readonly templates: Comparison['templates'] & Pick<TemplateStore, 'stateOf'>;
}

/**
 * Takes over one template by its id. The answer does not name its WABA, so an unknown template counts only if the
 * WABA's own list has it. One or two calls; throws as `compareWaba`.
 */
export async function compareTemplate(work: TemplateComparison, waba: Waba, id: string): Promise<void> {
  const askedAtMs = work.nowMs();
  const reading = await work.platform.read(waba, id);
  if (reading.kind === 'unreadable') return reportSkipped([{ platformId: id, reason: 'unreadable' }], waba);
  const named = reading.kind === 'found' ? reading.template : await storedUnder(work, waba, id);
  if (named === undefined) return;
  const { fact, rows } = await work.templates.stateOf(templateKey({ ...named, wabaId: waba.wabaId }), waba.clientIds);
  const known = knownRows(waba.wabaId, rows);
  const take = (template: PlatformTemplate, readAtMs: number) =>
    takePage(work, waba, known, { page: { templates: [template], unreadable: [] }, readAtMs });
  const isKnown = fact?.deleted === false && reading.kind === 'found' && fact.template.id === reading.template.id;
  if (isKnown) return await take(reading.template, askedAtMs);
  const listedAtMs = work.nowMs();
  const { found } = await work.platform.lookUp(waba, named);
  if (found !== undefined) return await take(found, listedAtMs);
  // A template that the platform never listed stays: it is just created, and lists lag.
  if (fact !== undefined && fact.readAtMs > 0) await apply(work, changesOfGone(known, new Set(), listedAtMs));
}

/** The id is gone upstream: the WABA's list shows whether the template is gone or recreated. */
async function storedUnder(work: Comparison, waba: Waba, id: string): Promise<NameAndLanguage | undefined> {
  for (const clientId of waba.clientIds) {
    const rows = await work.templates.rowsOf(clientId);
    const row = rows.find((each) => each.platformId === id && each.wabaId === waba.wabaId && !each.deleted);
    if (row !== undefined) return row;
  }
  return undefined;
}

async function readKnownRows(work: Comparison, waba: Waba): Promise<KnownRows> {
  const rows = [];
  for (const clientId of waba.clientIds) {
    await work.keepLease();
    rows.push(await work.templates.rowsOf(clientId));
  }
  return knownRows(waba.wabaId, rows.flat());
}

async function readPage(work: Comparison, waba: Waba, after: string | undefined): Promise<TemplatePage> {
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

/** Reads are safe, so every transient failure is retried. */
function mayPass(error: unknown): boolean {
  return (
    error instanceof PlatformFailure && (error.kind !== 'refused' || error.throttled || error.advice === 'backoff')
  );
}

/**
 * Tells clients before the write, because afterwards the difference is lost. A crash in between repeats the events with
 * the same ids. A failure leaves the rows for the next reader.
 */
async function emitChanges(work: Comparison, changes: readonly TemplateChange[]): Promise<void> {
  const nowMs = work.nowMs();
  const keys = changes.filter(mayChangeStatus).map(({ templateKey }) => templateKey);
  const stored = keys.length === 0 ? new Map<string, StoredFact>() : await work.templates.storedFacts(keys);
  const events = changes.flatMap((change) => eventsOfChange(change, stored.get(change.templateKey), nowMs));
  for (let start = 0; start < events.length; start += eventsAtOnce) {
    await work.keepLease();
    await work.events.send(events.slice(start, start + eventsAtOnce));
  }
}

/** A newer stored reading stays, and so does an item that the table refuses. */
async function apply(
  work: Comparison,
  changes: readonly TemplateChange[],
): Promise<{ readonly written: number; readonly refused: readonly SkippedTemplate[] }> {
  await emitChanges(work, changes);
  const refusedKeys = new Set<string>();
  const newer = await work.templates.writeUpstream(
    changes.map((change) => change.write),
    { fence: work.fence, between: work.keepLease, onRefused: (key) => refusedKeys.add(key) },
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
