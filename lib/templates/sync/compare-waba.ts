import type { Waba } from '../../access/directory.ts';
import type { Pause } from '../../aws/pause.ts';
import { present } from '../../keys/present.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import type { EventSink } from '../../webhooks/event.ts';
import type { PlatformTemplates, TemplatePage, WantedName } from '../model/platform-templates.ts';
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
  /** Before a platform call is repeated. */
  readonly pause: Pause;
}

/** How one comparison of a WABA is carried out, and what it has counted. */
export interface Comparison extends ComparisonPorts {
  /** Called between any two steps; throws to end it. */
  readonly keepLease: KeepLease;
  readonly timeIsShort: () => boolean;
  readonly counts: SyncCounts;
  /** Of the synchronization that this is part of; what is written without one is guarded by the time of its reading alone. */
  readonly fence?: SyncFence;
  readonly syncId?: string;
}

/** How far a WABA's list is read. */
export type Listing = NonNullable<SyncMessage['listing']>;

const platformAttempts = 3;
/** So many are queued well within a lease. */
const eventsAtOnce = 1_000;

/**
 * Goes through the platform's list of a WABA, page after page, and takes over what differs from the rows (D22): tells it, then
 * writes it. What no page of a whole list shows is marked deleted. Resolves to undefined at the end of the list, and to where
 * it stands when time runs short. Throws what ends it: `PlatformFailure`, or what `keepLease` throws.
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

/** Takes over what a page, or any other reading of templates of the WABA, has shown: tells, writes and counts it. */
async function takePage(
  work: Comparison,
  waba: Waba,
  known: KnownRows,
  { page, readAtMs }: { readonly page: TemplatePage; readonly readAtMs: number },
): Promise<void> {
  const { changes, skipped } = compareWithPage(waba, known, { page, readAtMs });
  const { written, refused } = await apply(work, changes);
  const passedOver = [...skipped, ...refused];
  reportSkipped(passedOver, { wabaId: waba.wabaId, ...present({ syncId: work.syncId }) });
  work.counts.skipped += passedOver.length;
  work.counts.unchanged += page.templates.length + page.unreadable.length - written - passedOver.length;
}

/** What reading one template takes besides. */
export interface TemplateComparison extends Comparison {
  readonly platform: Pick<PlatformTemplates, 'page' | 'read' | 'lookUp'>;
  readonly templates: Comparison['templates'] & Pick<TemplateStore, 'stateOf'>;
}

/**
 * One template by its id, taken over as a page of the list is. The platform's answer does not say whose it is: what the WABA
 * is not known to have counts only when its own list has it. One or two calls; throws what ends it, as `compareWaba`.
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
  // One that the platform never listed was created a moment ago: lists lag.
  if (fact !== undefined && fact.readAtMs > 0) await apply(work, changesOfGone(known, new Set(), listedAtMs));
}

/** The template that a client of the WABA has under an id: in the WABA's list it is gone, or made again. */
async function storedUnder(work: Comparison, waba: Waba, id: string): Promise<WantedName | undefined> {
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

/** Reading costs nothing and changes nothing: whatever may pass is tried again. */
function mayPass(error: unknown): boolean {
  return (
    error instanceof PlatformFailure && (error.kind !== 'refused' || error.throttled || error.advice === 'backoff')
  );
}

/**
 * Tells the clients what has changed, before it is written: once it is, nobody sees the difference any more. A crash in
 * between tells it again, under the same id, and so does whoever reads the same at the same time; a failure leaves the rows
 * as they were for the next one to see.
 */
async function tell(work: Comparison, changes: readonly TemplateChange[]): Promise<void> {
  const nowMs = work.nowMs();
  const keys = changes.filter(mayChangeStatus).map(({ templateKey }) => templateKey);
  const stored = keys.length === 0 ? new Map<string, StoredFact>() : await work.templates.storedFacts(keys);
  const events = changes.flatMap((change) => eventsOfChange(change, stored.get(change.templateKey), nowMs));
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
  work: Comparison,
  changes: readonly TemplateChange[],
): Promise<{ readonly written: number; readonly refused: readonly SkippedTemplate[] }> {
  await tell(work, changes);
  const refusedKeys = new Set<string>();
  const newer = await work.templates.writeUpstream(
    changes.map((change) => change.write),
    { ...present({ fence: work.fence }), between: work.keepLease, onRefused: (key) => refusedKeys.add(key) },
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
