import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as v from 'valibot';
import { type PlatformTemplate, PlatformTemplateSchema, type StoredFact } from './template.ts';

/** Levels of nesting that can be compared and packed without running out of stack; a carousel with everything has twelve. */
export const maxTemplateLevels = 64;
/** An item takes 400 KB (D18). */
export const maxPackedBytes = 300_000;
/** What packs well grows again when it is read, by the page. */
const maxTemplateBytes = 2_000_000;
/** Id, name, language, status, category and quality together: they stand in every client's row. */
const maxRowTextBytes = 4_000;

/** Longest age of a fresh copy. */
const freshForMs = 300_000;

/** Whether a stored copy was read from the platform a moment ago: a send goes by it without asking again (D23). */
export function isFresh({ readAtMs }: Pick<StoredFact, 'readAtMs'>, nowMs: number): boolean {
  return nowMs - readAtMs < freshForMs;
}

/** Why a template cannot be held here; undefined when it can. Never throws, whatever the platform has sent. */
export function obstacleToHolding(template: PlatformTemplate): 'too_deep' | 'too_large' | 'unreadable' | undefined {
  if (isTooDeep(template)) return 'too_deep';
  const { id, name, language, status, category, quality_score } = template;
  const rowText = [id, name, language, status, category, quality_score?.score ?? ''].join('');
  if (!rowText.isWellFormed()) return 'unreadable';
  const bytes = Buffer.byteLength(JSON.stringify(template));
  if (Buffer.byteLength(rowText) > maxRowTextBytes || bytes > maxTemplateBytes) return 'too_large';
  return bytes > maxPackedBytes && packTemplate(template).byteLength > maxPackedBytes ? 'too_large' : undefined;
}

/** Whether the template is nested too deep to be compared. Goes down level by level: recursion is what it guards. */
export function isTooDeep(template: PlatformTemplate): boolean {
  let level: readonly object[] = [template];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxTemplateLevels) return true;
    level = level.flatMap((value): object[] => Object.values(value).filter(isNested));
  }
  return false;
}

function isNested(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}

/**
 * A short hash (12 characters) of everything the platform says about a template: equal for equal facts whatever the
 * order of keys. The platform signs media URLs anew on every read, so the query of an `example.header_handle` URL does not
 * count; its path, which names the media, does.
 */
export function contentHash(template: PlatformTemplate): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical(template)))
    .digest('base64url')
    .slice(0, 12);
}

function canonical(value: unknown, key?: string): unknown {
  if (Array.isArray(value)) return value.map((item) => canonical(item, key));
  if (value !== null && typeof value === 'object') {
    return Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, canonical(item, name)]);
  }
  return key === 'header_handle' && typeof value === 'string' ? mediaName(value) : value;
}

/** What names the media in a URL of the platform or a handle: the URL without the query that signs it. */
export function mediaName(url: string): string {
  return url.startsWith('https://') ? (url.split('?', 1)[0] ?? url) : url;
}

/** Whether the status and category that clients are told of are those that are stored. */
export function isAsStored(
  { status, category }: Pick<PlatformTemplate, 'status' | 'category'>,
  { template, deleted }: Pick<StoredFact, 'template' | 'deleted'>,
): boolean {
  return !deleted && template.status === status && template.category === category;
}

/** Whether what is stored is younger than a reading: then that has nothing to tell, and is not written. */
export function isYounger({ readAtMs, sinceMs }: Pick<StoredFact, 'readAtMs' | 'sinceMs'>, thanMs: number): boolean {
  return Math.max(readAtMs, sinceMs) > thanMs;
}

/** The template as it is stored: gzip of its JSON (a 5 KB template fits one 4 KB read unit). */
export function packTemplate(template: PlatformTemplate): Uint8Array {
  return gzipSync(JSON.stringify(template));
}

/** The inverse of `packTemplate`; throws when the bytes hold no template. */
export function unpackTemplate(packed: Uint8Array): PlatformTemplate {
  return v.parse(PlatformTemplateSchema, JSON.parse(gunzipSync(packed).toString('utf8')));
}

/**
 * Whether the platform itself says that the template is gone, although it still lists it. A deleted template stays
 * PENDING_DELETION for up to 30 days while messages are under way (platform reference, 2.4 and 2.7).
 */
export function goneUpstream(template: PlatformTemplate): boolean {
  return template.status === 'DELETED' || template.status === 'PENDING_DELETION';
}
