import type { RawBody } from './signature.ts';

/** One change that the platform tells of one WABA (platform reference, 10.2). What `value` holds, nobody has looked at. */
export interface PlatformUpdate {
  readonly wabaId: string;
  readonly field: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** When the platform told it, where that can be read: it repeats for days. */
  readonly atMs?: number;
}

/** The updates of one webhook, and how many entries or changes say nothing to us. */
export interface Told {
  readonly updates: readonly PlatformUpdate[];
  /** Of WABAs that are not the app's, of which the first is named. */
  readonly foreign: number;
  readonly foreignWabaId?: string;
  /** Of a form that nobody knows. */
  readonly unreadable: number;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * The updates of a signed webhook, of the given WABAs only. Never throws, whatever the body is: what cannot be read is
 * counted, and the rest counts. No schema library: 3 MB come at a time, and each part is looked at once.
 */
export function updatesIn(body: RawBody, wabas: ReadonlySet<string>): Told {
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
  return { updates, foreign, unreadable, ...(foreignWabaId === undefined ? {} : { foreignWabaId }) };
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

/** A JSON object; undefined for every other value. */
export function objectOf(value: unknown): Json | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : undefined;
}

export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** An id is text in the platform's answers and a number in some of its webhooks; one that a number cannot hold is none. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
  return typeof value === 'string' && /^\d{1,32}$/.test(value) ? value : undefined;
}

/** Unix seconds, as text or as a number, of ten digits: from 2001 to 2286. A fraction is cut off. */
export function timeOf(told: unknown): number | undefined {
  if (typeof told !== 'string' && typeof told !== 'number') return undefined;
  const [, seconds] = /^(\d{10})(?:\.\d{1,20})?$/.exec(String(told)) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}
