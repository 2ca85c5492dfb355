import type { TemplatePage } from '../platform/templates.ts';
import { contentHash, goneUpstream } from './fact.ts';
import type { TemplateRow } from './row.ts';
import { templateKey } from './template-key.ts';
import type { UpstreamWrite } from './upstream-writes.ts';

/** The rows of a WABA's templates before this synchronization: by template key, then by client. */
export type KnownRows = ReadonlyMap<string, ReadonlyMap<number, TemplateRow>>;

/** One template that differs from what is stored: what it means, and the write that settles it. */
export interface TemplateChange {
  readonly templateKey: string;
  readonly kind: 'created' | 'updated' | 'deleted';
  /** Both differ from one another when the platform changed the status (or category): an event for the clients. */
  readonly status: { readonly before?: string; readonly now: string };
  readonly category: { readonly before?: string; readonly now: string };
  readonly clientIds: readonly number[];
  readonly write: UpstreamWrite;
}

export interface WabaClients {
  readonly wabaId: string;
  readonly clientIds: readonly number[];
}

/** Puts the rows of all clients of a WABA side by side; rows of other WABAs are left out. */
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

/**
 * Compares one page of the platform's list with the rows. A template needs a write when a client of the WABA has no row of
 * it, or one with other facts, or one marked deleted; what is equal everywhere is not written at all (D22).
 */
export function changesOfPage(
  waba: WabaClients,
  known: KnownRows,
  { page, readAtMs }: { readonly page: TemplatePage; readonly readAtMs: number },
): TemplateChange[] {
  const changes = new Map<string, TemplateChange>();
  for (const template of page.templates) {
    const key = templateKey({ ...template, wabaId: waba.wabaId });
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
    const before = rows?.values().next().value;
    changes.set(key, {
      templateKey: key,
      kind: before === undefined ? 'created' : deleted && !before.deleted ? 'deleted' : 'updated',
      status: { ...(before === undefined ? {} : { before: before.status }), now: template.status },
      category: { ...(before === undefined ? {} : { before: before.category }), now: template.category },
      clientIds: waba.clientIds,
      write: { kind: 'present', wabaId: waba.wabaId, template, clientIds: waba.clientIds, readAtMs },
    });
  }
  return [...changes.values()];
}

/** The keys of everything that a page shows to be there, read or not; undefined for an entry without name. */
export function keysOfPage(wabaId: string, page: TemplatePage): (string | undefined)[] {
  return [...page.templates, ...page.unreadable].map(({ name, language }) =>
    name === undefined || language === undefined ? undefined : templateKey({ wabaId, name, language }),
  );
}

/** Templates that are stored and that no page of the whole list showed: deleted upstream. */
export function changesOfGone(known: KnownRows, seen: ReadonlySet<string>, listedFromMs: number): TemplateChange[] {
  const changes: TemplateChange[] = [];
  for (const [key, rows] of known) {
    const live = [...rows.values()].filter((row) => !row.deleted);
    const [first] = live;
    if (first === undefined || seen.has(key)) continue;
    const clientIds = live.map((row) => row.clientId);
    changes.push({
      templateKey: key,
      kind: 'deleted',
      status: { before: first.status, now: first.status },
      category: { before: first.category, now: first.category },
      clientIds,
      write: { kind: 'gone', templateKey: key, clientIds, readAtMs: listedFromMs },
    });
  }
  return changes;
}
