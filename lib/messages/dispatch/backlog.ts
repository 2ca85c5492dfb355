import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { ItemKey } from '../../aws/item-key.ts';
import type { DispatchHead } from './head.ts';
import { dispatchExpiresAtSeconds } from './items.ts';

// The backlog has an entry for each dispatch that the fan-out has to release. With the dispatch's item (item-writes.ts)
// it says how the dispatch stands, and who makes it so:

// - stored (entry): acceptance, with parameters, recipients and record.

// - accepted (entry; the item has a head): acceptance, unless it is withdrawn. This write decides (D25).

// - withdrawn (entry; the item has `withdrawnAtMs`): acceptance, the next request of its key, or the look after 60 s,
// unless it is accepted.

// - released (entry; the item's round is the last): the fan-out.

// - gone (no entry): the look, which alone removes entries, once the dispatch is withdrawn or released for good.

// So what is accepted has an entry until it is released, and the look finds it, whatever wake is lost.

/** An entry without an item is this old when the look withdraws it: no acceptance lives so long. */
export const undecidedMs = 60_000;

/** What is due later stands apart, so that a look costs the same beside thousands of scheduled dispatches. */
export const laterThanMs = 900_000;

/** The hash of its number chooses the partition of an entry. */
export const backlogShards = 16;

const hourMs = 3_600_000;

/** What one of the senders of a number has done of a dispatch (sender/entry-progress.ts). */
const PartProgressSchema = v.object({
  /** All slices of the part below this one have ended and are told. */
  floor: v.number(),
  /** Nothing of the part is to be done before. */
  dueMs: v.number(),
  /** So many runs in a row could do nothing with the dispatch. */
  failures: v.optional(v.number()),
});
export type PartProgress = Readonly<v.InferOutput<typeof PartProgressSchema>>;

/** No entry holds a recipient (D60). */
const BacklogEntrySchema = v.object({
  phoneNumberId: v.string(),
  dispatchId: v.string(),
  clientId: v.number(),
  enteredAtMs: v.number(),
  notBeforeMs: v.number(),
  correlationId: v.optional(v.string()),
  expiresAtSeconds: v.number(),
  /** Counts the writes after acceptance, for the optimistic lock. */
  version: v.optional(v.number()),
  parts: v.optional(v.pipe(v.array(PartProgressSchema), v.readonly())),
  /** Something was written to the dispatch then, such as a stop: its sender must read it again. */
  newsMs: v.optional(v.number()),
  /** A small request that its worker could not call: it has every second turn of its number at most (D44). */
  front: v.optional(v.literal(true)),
});
export type BacklogEntry = Readonly<v.InferOutput<typeof BacklogEntrySchema>>;

/** Parses a stored entry. Throws on an item of another form. */
export function backlogEntryIn(stored: unknown): BacklogEntry {
  return v.parse(BacklogEntrySchema, stored);
}

/** Returns the entry that acceptance writes with the dispatch, and its key. */
export function newEntry(head: DispatchHead): ItemKey & BacklogEntry {
  const { phoneNumberId, dispatchId, clientId, acceptedAtMs: enteredAtMs, when, correlationId } = head;
  const notBeforeMs = when?.fromMs ?? enteredAtMs;
  const expiresAtSeconds = dispatchExpiresAtSeconds(head);
  const entry = { phoneNumberId, dispatchId, clientId, enteredAtMs, notBeforeMs, correlationId, expiresAtSeconds };
  return { ...(notBeforeMs - enteredAtMs > laterThanMs ? laterKey(entry) : backlogKey(entry)), ...entry };
}

export function backlogKey({ phoneNumberId, dispatchId }: Pick<BacklogEntry, 'phoneNumberId' | 'dispatchId'>): ItemKey {
  return { pk: backlogPartition(shardOf(phoneNumberId)), sk: `${phoneNumberId}#${dispatchId}` };
}

/** `shard` counts from 0. */
export function backlogPartition(shard: number): string {
  return `BACKLOG#${shard}`;
}

/** Keys an entry by its hour, and in it by its time, until the look moves it. */
export function laterKey(entry: Pick<BacklogEntry, 'phoneNumberId' | 'dispatchId' | 'notBeforeMs'>): ItemKey {
  const { phoneNumberId, dispatchId, notBeforeMs } = entry;
  const partition = laterPartition(hourOf(notBeforeMs), shardOf(phoneNumberId));
  return { pk: partition, sk: `${laterSortKey(notBeforeMs)}#${phoneNumberId}#${dispatchId}` };
}

export function laterPartition(hour: number, shard: number): string {
  return `LATER#${hour}#${shard}`;
}

/** Sorts before each entry of that moment. */
export function laterSortKey(notBeforeMs: number): string {
  return String(notBeforeMs).padStart(15, '0');
}

/** Keys the first hour that may still have entries. */
export const firstLaterHourKey: ItemKey = { pk: 'LATER', sk: 'FIRST' };

/** Returns hours since 1970. */
export function hourOf(atMs: number): number {
  return Math.floor(atMs / hourMs);
}

function shardOf(phoneNumberId: string): number {
  return createHash('sha256').update(phoneNumberId).digest().readUInt8(0) % backlogShards;
}
