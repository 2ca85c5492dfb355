import type { RawBody } from './signature.ts';

/** An update is one change of one WABA in a platform webhook (platform reference, 10.2). `value` is unchecked. */
export interface PlatformUpdate {
  readonly wabaId: string;
  readonly field: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** The platform sent it then, if readable; it retries for days. */
  readonly atMs?: number;
}

export interface WebhookUpdates {
  readonly updates: readonly PlatformUpdate[];
  /** This many updates are for WABAs that are not the app's; the first such WABA is named. */
  readonly foreign: number;
  readonly foreignWabaId?: string;
  readonly unreadable: number;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns the updates of a signed webhook for the given WABAs. Never throws: unreadable parts are counted, the others
 * stay. It uses no schema library, because a webhook may have 3 MB.
 */
export function updatesIn(body: RawBody, wabas: ReadonlySet<string>): WebhookUpdates {
  const updates: PlatformUpdate[] = [];
  let [foreign, unreadable] = [0, 0];
  let foreignWabaId: string | undefined;
  const entries = listOf(objectOf(parsedOrUndefined(body))?.['entry']);
  if (entries === undefined) return { updates, foreign, unreadable: 1 };
  for (const each of entries) {
    const entry = objectOf(each);
    const wabaId = idOf(entry?.['id']);
    const changes = listOf(entry?.['changes']);
    if (wabaId === undefined || changes === undefined) unreadable += 1;
    else if (!wabas.has(wabaId)) {
      foreign += changes.length;
      foreignWabaId ??= wabaId;
    } else {
      const atMs = timeOf(entry?.['time']);
      const of = atMs === undefined ? { wabaId } : { wabaId, atMs };
      const read = changes.flatMap((change) => updateOf(of, change));
      for (const update of read) updates.push(update);
      unreadable += changes.length - read.length;
    }
  }
  return { updates, foreign, unreadable, foreignWabaId };
}

function updateOf(of: Pick<PlatformUpdate, 'wabaId' | 'atMs'>, change: unknown): PlatformUpdate[] {
  const { field, value } = objectOf(change) ?? {};
  const content = objectOf(value);
  return typeof field === 'string' && content !== undefined ? [{ ...of, field, value: content }] : [];
}

function parsedOrUndefined(body: RawBody): unknown {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
}

/** Returns a JSON object, or undefined for every other value. */
export function objectOf(value: unknown): Json | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : undefined;
}

export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** Returns an id as text: the platform's answers have text, and some webhooks a number. Refuses an unsafe integer. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
  return typeof value === 'string' && /^\d{1,32}$/.test(value) ? value : undefined;
}

/** Reads Unix seconds of ten digits (2001 to 2286), as text or number, without the fraction. Returns milliseconds. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const [, seconds] = /^(\d{10})(?:\.\d{1,20})?$/.exec(String(value)) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}
