import { createHash } from 'node:crypto';

/** No issued cursor is so long. */
const maxLength = 2_000;
const digestLength = 12;

/**
 * Spells a place in a listing. A digest binds it to `scope` (the listing and its filters), so that a foreign or cut
 * cursor is refused. It protects no secret.
 */
export function opaqueCursor(scope: string, place: unknown): string {
  const text = JSON.stringify(place);
  return Buffer.from(`${digestOf(scope, text)}${text}`).toString('base64url');
}

/** Returns the place that a cursor of this listing names, or undefined for all other text. */
export function placeOf(scope: string, cursor: string): unknown {
  if (cursor.length > maxLength || !/^[\w-]+$/.test(cursor)) return undefined;
  const sealed = Buffer.from(cursor, 'base64url').toString('utf8');
  const text = sealed.slice(digestLength);
  return sealed.startsWith(digestOf(scope, text)) ? jsonOf(text) : undefined;
}

/** A client can forge the digest, so the text may be anything. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function digestOf(scope: string, text: string): string {
  return createHash('sha256')
    .update(JSON.stringify([scope, text]))
    .digest('base64url')
    .slice(0, digestLength);
}
