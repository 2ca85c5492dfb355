import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { ItemKey } from '../../aws/item-key.ts';
import { type DispatchHead, DispatchHeadSchema } from './head.ts';
import { dispatchExpiresAtSeconds } from './items.ts';
import { slicesIn } from './slice.ts';

// The backlog has an entry for each dispatch of which something is to be done. With the dispatch's item (item-writes.ts)
// it says how the dispatch stands, and who makes it so:

// - stored (entry): acceptance, with parameters, recipients and record.

// - accepted (entry; the item has a head): acceptance, unless it is withdrawn. This write decides (D25).

// - withdrawn (entry; the item has `withdrawnAtMs`): acceptance, the next request of its key, or the sender after 60 s,
// unless it is accepted.

// - ended and told (no entry): the sender, which alone removes entries, also of what is withdrawn.

// So what is accepted has an entry until its end is told, and a sweep finds it, whatever wake is lost.

/** An entry without an item is this old when a sender withdraws it: no acceptance lives so long. */
export const undecidedMs = 60_000;

/** What is due later stands apart, so that a sweep costs the same beside thousands of scheduled dispatches. */
export const laterThanMs = 900_000;

/** The hash of its number chooses the partition of an entry. */
export const backlogShards = 16;

const hourMs = 3_600_000;

/** What one of the senders of a number has done of a dispatch (sender/entry-progress.ts). */
const PartProgressSchema = v.object({
  /** All slices of the part below this one have ended and are told. */
  floor: v.number(),
  /** Above the floor, these slices have ended and are told, too (sender/told-slices.ts). */
  told: v.optional(v.pipe(v.array(v.tuple([v.number(), v.number()])), v.readonly())),
  /** Nothing of the part is to be done before. */
  dueMs: v.number(),
  /** So many runs in a row could do nothing with the dispatch. */
  failures: v.optional(v.number()),
});
export type PartProgress = Readonly<v.InferOutput<typeof PartProgressSchema>>;

/** What a sender must know to judge a parked dispatch by its holds alone, without reading it (sender/held-until.ts). */
const ParkedEntrySchema = v.object({
  ...v.pick(DispatchHeadSchema, ['wabaId', 'category', 'path', 'templateName', 'templateLanguage']).entries,
  /** Its waiting is over then. */
  untilMs: v.number(),
});
export type ParkedEntry = Readonly<v.InferOutput<typeof ParkedEntrySchema>>;

/** No entry holds a recipient (D60). */
const BacklogEntrySchema = v.object({
  phoneNumberId: v.string(),
  dispatchId: v.string(),
  clientId: v.number(),
  enteredAtMs: v.number(),
  notBeforeMs: v.number(),
  /** So many slices has the dispatch: a part without one has nothing to do. */
  slices: v.number(),
  correlationId: v.optional(v.string()),
  expiresAtSeconds: v.number(),
  /** Counts the writes after acceptance, for the optimistic lock. */
  version: v.optional(v.number()),
  parts: v.optional(v.pipe(v.array(PartProgressSchema), v.readonly())),
  /** Something was written to the dispatch then, such as a stop: its sender must read it again. */
  newsMs: v.optional(v.number()),
  /** A small request that its worker could not call: it has every second turn of its number at most (D44). */
  front: v.optional(v.literal(true)),
  /** Its dispatch is parked (D46). */
  parked: v.optional(ParkedEntrySchema),
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
  const facts = { phoneNumberId, dispatchId, clientId, enteredAtMs, correlationId, expiresAtSeconds };
  const entry = { ...facts, notBeforeMs, slices: slicesIn(head) };
  return { ...(laterKeyOf(head) ?? backlogKey(entry)), ...entry };
}

/** Returns where a new entry waits for its hour; undefined for one that is due soon. */
export function laterKeyOf({
  acceptedAtMs,
  when,
  ...head
}: Pick<DispatchHead, 'phoneNumberId' | 'dispatchId' | 'acceptedAtMs' | 'when'>): ItemKey | undefined {
  const { fromMs: notBeforeMs = acceptedAtMs } = when ?? {};
  return notBeforeMs - acceptedAtMs > laterThanMs ? laterKey({ ...head, notBeforeMs }) : undefined;
}

export function backlogKey({ phoneNumberId, dispatchId }: Pick<BacklogEntry, 'phoneNumberId' | 'dispatchId'>): ItemKey {
  return { pk: backlogPartition(shardOf(phoneNumberId)), sk: `${phoneNumberId}#${dispatchId}` };
}

/** `shard` counts from 0. */
export function backlogPartition(shard: number): string {
  return `BACKLOG#${shard}`;
}

/** Keys an entry by its hour, and in it by its time, until a sweep moves it. */
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
