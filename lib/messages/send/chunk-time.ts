import { isDeepStrictEqual } from 'node:util';
import { maxDelaySeconds } from '../../aws/queue-body.ts';
import type { ChunkRecipient, ChunkSlice, QueuedChunk } from '../dispatch/chunk.ts';
import { lateLane, type Schedule, slotMsOf, type Turn, trustedUntilMs } from '../pace/schedule.ts';
import { urgentLane } from '../pace/urgent.ts';

/*
 * A chunk leaves its queue shortly before its first slot. The worker reads number and dispatch, claims each slice just
 * before its slot, reads again, and calls each recipient in its millisecond.
 */

/** A chunk should arrive this long before its first slot: enough if the queue delivers a second late. */
export const deliveryLeadMs = 1_100;

/** A chunk whose first slot is further away waits in the queue, where waiting is cheaper. */
const usualStayMs = 2_100;
/** Workers of small requests wait no longer for a chunk without codes: codes behind it would wait too (D44). */
const stayBesideCodesMs = 400;

export function longestStayMs(
  { urgent }: Pick<QueuedChunk, 'urgent'>,
  worker: { readonly isOfSmallRequests: boolean },
): number {
  return worker.isOfSmallRequests && !urgent ? stayBesideCodesMs : usualStayMs;
}

/** Slices with slots later than this after the run's first one return as a chunk of their own. */
const runSpanMs = 1_500;

/**
 * A slot that passed longer ago may not be used (D43). The pace is nine tenths of the limit, so calls late by a ninth
 * of a second fill it.
 */
export const missedAfterMs = 75;

/** A claim takes at least this long: a slice with an earlier first slot has missed it. */
const soonestMs = missedAfterMs - 25;

/**
 * Returns how long before its first slot a slice is claimed: longer with each missed slot, or slow claims would stall
 * sending.
 */
export function claimLeadMs(missedSlots: number): number {
  return Math.min(600, 50 * 4 ** missedSlots);
}

/** A message leaves in a turn of the schedule, which may still move, or at a fixed time. */
export type Slot = Turn | { readonly atMs: number };

/** `readAtMs` precedes the read. */
export interface SeenSchedule {
  readonly schedule: Schedule;
  readonly readAtMs: number;
}

/** Tells whether no writer may move the slot any more, according to this read. */
export function isTrusted(slot: Slot, { schedule, readAtMs }: SeenSchedule): boolean {
  if ('atMs' in slot) return true;
  const slotMs = slotTimeMs(slot, schedule);
  return slotMs !== undefined && slotMs < trustedUntilMs(readAtMs);
}

export function slotTimeMs(slot: Slot, schedule: Schedule): number | undefined {
  return 'atMs' in slot ? slot.atMs : slotMsOf(schedule, slot);
}

/** Returns the slots of a chunk's recipients by its positions, keyed by index. */
export function slotsOf(chunk: QueuedChunk): Map<number, Slot> {
  const { clientId, lane, slices } = chunk;
  const slots = new Map<number, Slot>();
  for (const { position, isLate, recipients } of slices) {
    if (position === undefined) continue;
    const name = isLate ? laneOfLate(chunk) : lane;
    for (const [at, { index }] of recipients.entries()) {
      slots.set(index, { clientId, lane: name, position: position + at });
    }
  }
  return slots;
}

/** Returns the lane in which a worker reserves: codes wait beside the dispatches of their client (D44). */
function laneOfLate({ urgent, lane }: Pick<QueuedChunk, 'urgent' | 'lane'>): string {
  return urgent ? urgentLane : lateLane(lane);
}

/** Returns a slice for the queue, with its position if its slots are consecutive in one lane of the chunk. */
export function withPosition(slice: ChunkSlice, slots: ReadonlyMap<number, Slot>, chunk: QueuedChunk): ChunkSlice {
  const { position: _before, isLate: _too, ...rest } = slice;
  const turns = slice.recipients.map(({ index }) => slots.get(index));
  const [first] = turns;
  if (first === undefined || 'atMs' in first) return rest;
  const { lane, position } = first;
  // If one recipient had no slot, a reader would give it its neighbour's.
  if (!turns.every((turn, at) => isDeepStrictEqual(turn, { ...first, position: position + at }))) return rest;
  return { ...rest, position, ...(lane === chunk.lane ? {} : { isLate: true as const }) };
}

/** A recipient gets a slot this long before its `notBeforeMs`. A schedule keeps slots longer than this. */
export const dueAheadMs = 1_000;

export function isDue({ notBeforeMs = 0 }: ChunkRecipient, nowMs: number): boolean {
  return notBeforeMs <= nowMs + dueAheadMs;
}

/** Returns whole seconds in the queue until a recipient is due. */
export function ownTimeDelaySeconds(dueMs: number, nowMs: number): number {
  return Math.min(maxDelaySeconds, Math.max(0, Math.ceil((dueMs - dueAheadMs - nowMs) / 1_000)));
}

export function firstDueMs({ slices }: Pick<QueuedChunk, 'slices'>): number {
  return Math.min(...slices.flatMap(({ recipients }) => recipients.map(({ notBeforeMs = 0 }) => notBeforeMs)));
}

export interface TimedSlice {
  readonly slice: ChunkSlice;
  readonly firstMs: number;
}

/** Returns undefined for a slice without slots, or with a first slot that can no longer be met. */
export function firstSlotMs(
  { recipients }: Pick<ChunkSlice, 'recipients'>,
  slots: ReadonlyMap<number, Slot>,
  { schedule, nowMs }: { readonly schedule: Schedule; readonly nowMs: number },
): number | undefined {
  const times = recipients.flatMap((recipient) => {
    const slot = isDue(recipient, nowMs) ? slots.get(recipient.index) : undefined;
    return slot === undefined ? [] : [slotTimeMs(slot, schedule)];
  });
  if (times.length === 0 || times.includes(undefined)) return undefined;
  const firstMs = Math.min(...times.flatMap((ms) => ms ?? []));
  return firstMs + soonestMs < nowMs ? undefined : firstMs;
}

/** Splits slices, by slot, into those that leave in this run and those that return to the queue. */
export function partedBySlots(timed: readonly TimedSlice[], { nowMs, stayMs }: { nowMs: number; stayMs: number }) {
  const inOrder = timed.toSorted((one, other) => one.firstMs - other.firstMs);
  const [first] = inOrder;
  const untilMs = Math.max(first?.firstMs ?? 0, nowMs) + runSpanMs;
  const isFar = first !== undefined && first.firstMs - nowMs > stayMs;
  return {
    leaves: isFar ? [] : inOrder.filter(({ firstMs }) => firstMs <= untilMs),
    waits: isFar ? inOrder : inOrder.filter(({ firstMs }) => firstMs > untilMs),
  };
}

/** Returns whole seconds in the queue, so that the chunk arrives before its slot. */
export function queueDelaySeconds(slotMs: number, nowMs: number, leadMs: number = deliveryLeadMs): number {
  return Math.min(maxDelaySeconds, Math.max(0, Math.floor((slotMs - leadMs - nowMs) / 1_000)));
}
