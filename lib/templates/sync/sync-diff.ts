import type { TemplatePage } from '../model/platform-templates.ts';
import type { TemplateRow } from '../model/row.ts';
import type { SkippedTemplate, SkipReason } from '../model/skipped-template.ts';
import { contentHash, goneUpstream, isAsStored, isTooDeep, isYounger, unstorableReason } from '../model/stored-fact.ts';
import type { StoredFact } from '../model/template.ts';
import { announcedRow, deletedEvents, statusChangedEvents } from '../model/template-event.ts';
import { templateKey } from '../model/template-key.ts';
import type { UpstreamWrite } from '../model/upstream-writes.ts';

/** Rows are by template key, then by client. */
export type KnownRows = ReadonlyMap<string, ReadonlyMap<number, TemplateRow>>;

export interface TemplateChange {
  readonly templateKey: string;
  readonly kind: 'created' | 'updated' | 'deleted';
  /** Every client that had a row before is here. */
  readonly rows: readonly TemplateRow[];
  readonly write: UpstreamWrite;
}

export interface WabaClients {
  readonly wabaId: string;
  readonly clientIds: readonly number[];
}

export function knownRows(wabaId: string, rows: readonly TemplateRow[]): KnownRows {
  const known = new Map<string, Map<number, TemplateRow>>();
  for (const row of rows) {
    if (row.wabaId !== wabaId) continue;
    const ofTemplate = known.get(row.templateKey) ?? new Map<number, TemplateRow>();
    ofTemplate.set(row.clientId, row);
    known.set(row.templateKey, ofTemplate);
  }
  return known;
}

export interface PageDiff {
  readonly changes: readonly TemplateChange[];
  /** Upstream templates that cannot be stored do not count as gone, and their stored copies stay. */
  readonly skipped: readonly SkippedTemplate[];
}

/**
 * Compares a page with the rows. A template needs a write when a client of the WABA has no row, a row with other facts,
 * or a deleted one. Equal templates are not written (D22).
 */
export function compareWithPage(
  waba: WabaClients,
  known: KnownRows,
  { page, readAtMs }: { readonly page: TemplatePage; readonly readAtMs: number },
): PageDiff {
  const changes = new Map<string, TemplateChange>();
  const skipped: SkippedTemplate[] = page.unreadable.map(({ id }) => ({ platformId: id, reason: 'unreadable' }));
  for (const template of page.templates) {
    const key = templateKey({ ...template, wabaId: waba.wabaId });
    const skip = (reason: SkipReason) => {
      changes.delete(key);
      skipped.push({ platformId: template.id, reason });
    };
    if (isTooDeep(template)) {
      skip('too_deep');
      continue;
    }
    const rows = known.get(key);
    const hash = contentHash(template);
    const deleted = goneUpstream(template);
    const settled = waba.clientIds.every((clientId) => {
      const row = rows?.get(clientId);
      return row !== undefined && row.contentHash === hash && row.deleted === deleted;
    });
    // The list may name a template twice when it changes under the cursor: the later reading counts.
    if (settled) {
      changes.delete(key);
      continue;
    }
    const obstacle = unstorableReason(template);
    if (obstacle !== undefined) {
      skip(obstacle);
      continue;
    }
    const before = rows?.values().next().value;
    changes.set(key, {
      templateKey: key,
      kind: before === undefined ? 'created' : deleted && !before.deleted ? 'deleted' : 'updated',
      rows: [...(rows?.values() ?? [])],
      write: { kind: 'present', wabaId: waba.wabaId, template, clientIds: waba.clientIds, readAtMs },
    });
  }
  return { changes: [...changes.values()], skipped };
}

/** Returns the keys of all entries of a page, readable or not, or undefined for an entry without a name. */
export function keysOfPage(wabaId: string, page: TemplatePage): (string | undefined)[] {
  return [...page.templates, ...page.unreadable].map(({ name, language }) =>
    name === undefined || language === undefined ? undefined : templateKey({ wabaId, name, language }),
  );
}

/** Returns live templates that no page of the complete list showed: deleted upstream. */
export function changesOfGone(known: KnownRows, seen: ReadonlySet<string>, listedFromMs: number): TemplateChange[] {
  const changes: TemplateChange[] = [];
  for (const [key, rows] of known) {
    const live = [...rows.values()].filter((row) => !row.deleted);
    if (live.length === 0 || seen.has(key)) continue;
    const clientIds = live.map((row) => row.clientId);
    changes.push({
      templateKey: key,
      kind: 'deleted',
      rows: live,
      write: { kind: 'gone', templateKey: key, clientIds, readAtMs: listedFromMs },
    });
  }
  return changes;
}

/**
 * Returns an event for a new status or category, or the end (D34). A newly appeared template gets none, because a first
 * synchronization would send thousands; nor does one whose reading, or a newer one, is stored already.
 */
export function eventsOfChange({ rows, write }: TemplateChange, stored: StoredFact | undefined, nowMs: number) {
  if (write.kind === 'gone') return rows.flatMap((row) => deletedEvents(announcedRow(row), [row], nowMs));
  const template = { ...write.template, wabaId: write.wabaId };
  if (goneUpstream(template)) return deletedEvents(template, rows, nowMs);
  if (stored === undefined || isAsStored(template, stored) || isYounger(stored, write.readAtMs)) return [];
  return statusChangedEvents(template, rows, { sinceMs: stored.sinceMs, nowMs });
}

/** Tells whether the events of the change depend on the stored fact. */
export function mayChangeStatus({ rows, write }: TemplateChange): boolean {
  if (write.kind === 'gone') return false;
  const { status, category } = write.template;
  return rows.some((row) => !row.deleted && (row.status !== status || row.category !== category));
}
