import { createHmac } from 'node:crypto';
import { fieldOf, type Update } from './update.ts';

/** One POST has these limits (platform reference, 10.1). */
export const postLimits = { updates: 1_000, bytes: 3_000_000 };

/** The envelope adds at most this much to each update. */
const frameBytes = 250;

/** Counts the leading updates that fit, at least one, however large; 0 for an empty list. */
export function countOfNextBatch(updates: readonly Update[], limits = postLimits): number {
  let bytes = 0;
  const most = Math.min(updates.length, limits.updates);
  for (let count = 0; count < most; count += 1) {
    bytes += escapedJson(updates[count]).length + frameBytes;
    if (bytes > limits.bytes) return Math.max(1, count);
  }
  return most;
}

interface Change {
  readonly field: string;
  readonly value: unknown;
}

interface Entry {
  readonly id: string;
  readonly time?: number;
  readonly changes: Change[];
}

/** These fields are about people, not about nodes. */
const ofPeople = new Set(['messages', 'standby', 'user_preferences']);

/**
 * Builds an entry for each WABA, a change for each update, in order: client libraries expect one status per change.
 * Entries about nodes are separate and carry `time` (platform reference, 10.2).
 */
export function envelopeOf(updates: readonly Update[], nowMs: number): object {
  const entries = new Map<string, Entry>();
  for (const update of updates) {
    const { wabaId } = update;
    const isNews = update.kind === 'node' && !ofPeople.has(update.field);
    const key = `${isNews}/${wabaId}`;
    const time = isNews ? { time: Math.floor(nowMs / 1_000) } : {};
    const entry = entries.get(key) ?? { id: wabaId, ...time, changes: [] };
    entries.set(key, entry);
    entry.changes.push({ field: fieldOf(update), value: valueOfChange(update) });
  }
  return { object: 'whatsapp_business_account', entry: [...entries.values()] };
}

function valueOfChange(update: Update): unknown {
  if (update.kind === 'node') return update.value;
  const { metadata, contacts, status } = update;
  return { messaging_product: 'whatsapp', metadata, contacts, statuses: [status] };
}

/** Writes JSON with non-ASCII characters as `\uXXXX`, as the platform writes and signs it. */
export function escapedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns the value of `X-Hub-Signature-256`, or of the older `X-Hub-Signature`. */
export function signatureOf(bytes: Uint8Array, secret: string, algorithm: 'sha256' | 'sha1' = 'sha256'): string {
  return `${algorithm}=${createHmac(algorithm, secret).update(bytes).digest('hex')}`;
}
