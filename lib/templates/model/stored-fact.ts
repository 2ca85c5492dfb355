import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as v from 'valibot';
import { type PlatformTemplate, PlatformTemplateSchema, type StoredFact } from './template.ts';

/** This many levels compare and pack without a stack overflow; a full carousel has twelve. */
export const maxTemplateLevels = 64;
/** An item takes 400 KB (D18). */
export const maxPackedBytes = 300_000;
/** Well-compressed templates grow again when a page of them is read. */
const maxTemplateBytes = 2_000_000;
/** Id, name, language, status, category and quality together are limited, because every client's row has them. */
const maxRowTextBytes = 4_000;

const freshForMs = 300_000;

/** Tells whether a stored copy is fresh enough that a send uses it without asking the platform (D23). */
export function isFresh({ readAtMs }: Pick<StoredFact, 'readAtMs'>, nowMs: number): boolean {
  return nowMs - readAtMs < freshForMs;
}

/** Returns undefined for a storable template. Never throws, whatever the platform has sent. */
export function unstorableReason(template: PlatformTemplate): 'too_deep' | 'too_large' | 'unreadable' | undefined {
  if (isTooDeep(template)) return 'too_deep';
  const { id, name, language, status, category, quality_score } = template;
  const rowText = [id, name, language, status, category, quality_score?.score ?? ''].join('');
  if (!rowText.isWellFormed()) return 'unreadable';
  const bytes = Buffer.byteLength(JSON.stringify(template));
  if (Buffer.byteLength(rowText) > maxRowTextBytes || bytes > maxTemplateBytes) return 'too_large';
  return bytes > maxPackedBytes && packTemplate(template).byteLength > maxPackedBytes ? 'too_large' : undefined;
}

/**
 * Tells whether the template is too deep to compare. The loop goes level by level, because recursion could overflow.
 */
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
 * Returns a hash (12 characters) of all that the platform says about a template, independent of key order. The platform
 * signs media URLs again on every read, so only the path of an `example.header_handle` counts.
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

/** Returns the stable name of media: a handle, or a URL without its signing query. */
export function mediaName(url: string): string {
  return url.startsWith('https://') ? (url.split('?', 1)[0] ?? url) : url;
}

/** Tells whether a reading has the stored status and category. */
export function isAsStored(
  { status, category }: Pick<PlatformTemplate, 'status' | 'category'>,
  { template, deleted }: Pick<StoredFact, 'template' | 'deleted'>,
): boolean {
  return !deleted && template.status === status && template.category === category;
}

/** Tells whether the stored copy is newer than a reading, which is then dropped. */
export function isYounger({ readAtMs, sinceMs }: Pick<StoredFact, 'readAtMs' | 'sinceMs'>, thanMs: number): boolean {
  return Math.max(readAtMs, sinceMs) > thanMs;
}

/** Packs the template as gzip of its JSON (a 5 KB template fits one 4 KB read unit). */
export function packTemplate(template: PlatformTemplate): Uint8Array {
  return gzipSync(JSON.stringify(template));
}

/** Inverts `packTemplate`; throws on other bytes. */
export function unpackTemplate(packed: Uint8Array): PlatformTemplate {
  return v.parse(PlatformTemplateSchema, JSON.parse(gunzipSync(packed).toString('utf8')));
}

/**
 * Tells whether the platform says that the template is gone, although it lists it. A deleted template stays
 * PENDING_DELETION for up to 30 days while messages are under way (platform reference, 2.4 and 2.7).
 */
export function goneUpstream(template: PlatformTemplate): boolean {
  return template.status === 'DELETED' || template.status === 'PENDING_DELETION';
}
