import { isDeepStrictEqual } from 'node:util';
import { maxDelaySeconds } from '../../aws/queue-body.ts';
import type { ChunkRecipient, ChunkSlice, QueuedChunk } from '../chunk.ts';
import { lateLane, type Schedule, slotMsOf, type Turn, trustedUntilMs } from '../pace/schedule.ts';
import { urgentLane } from '../pace/urgent.ts';

/*
 * Where the messages of a chunk stand in time. A chunk comes out of its queue shortly before its first slot. Its worker looks at
 * the number and the job, claims each slice shortly before the first slot of the slice, looks once more, and calls each
 * recipient in the millisecond of its slot.
 */

/** So long before its first slot a chunk is to come: enough where the delays of the queue end a second late. */
export const deliveryLeadMs = 1_100;

/** A chunk whose first slot is further ahead waits in the queue: a second of that is cheaper there. */
const usualStayMs = 2_100;
/** The workers of small requests wait no longer for one that is no code: the codes behind it would wait as well (D44). */
const stayBesideCodesMs = 400;

/** How long a chunk waits with a worker for its first slot. */
export function longestStayMs(
  { urgent }: Pick<QueuedChunk, 'urgent'>,
  worker: { readonly isOfSmallRequests: boolean },
): number {
  return worker.isOfSmallRequests && !urgent ? stayBesideCodesMs : usualStayMs;
}

/** Slices whose slots come later than this after the first of a run go back as a chunk of their own. */
const runSpanMs = 1_500;

/**
 * A slot that has passed by more is no licence (D43): the pace is nine tenths, so calls that are late by a ninth of a second
 * fill the limit. What is left of that is for the way to the platform.
 */
export const missedAfterMs = 75;

/** A claim takes this long at least: a slice whose first slot comes sooner has missed it. */
const soonestMs = missedAfterMs - 25;

/**
 * How long before its first slot a slice is claimed: longer with each time that its slots have passed meanwhile, or where claims
 * are slow nothing would ever be sent.
 */
export function claimLeadMs(missedSlots: number): number {
  return Math.min(600, 50 * 4 ** missedSlots);
}

/** When a message may leave: a turn of the schedule, which others may still move, or a time of its own. */
export type Slot = Turn | { readonly atMs: number };

/** A schedule, and from before when it was read. */
export interface SeenSchedule {
  readonly schedule: Schedule;
  readonly readAtMs: number;
}

/** Whether no writer may move the slot any more, by a schedule that was read then. */
export function isTrusted(slot: Slot, { schedule, readAtMs }: SeenSchedule): boolean {
  if ('atMs' in slot) return true;
  const slotMs = slotTimeMs(slot, schedule);
  return slotMs !== undefined && slotMs < trustedUntilMs(readAtMs);
}

export function slotTimeMs(slot: Slot, schedule: Schedule): number | undefined {
  return 'atMs' in slot ? slot.atMs : slotMsOf(schedule, slot);
}

/** The slots that the recipients of a chunk have by its positions, by index. */
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

/** Where slots are that a worker reserves: codes wait for theirs beside the jobs of their client (D44). */
function laneOfLate({ urgent, lane }: Pick<QueuedChunk, 'urgent' | 'lane'>): string {
  return urgent ? urgentLane : lateLane(lane);
}

/** A slice as it goes back to the queue: with its slots, where they are consecutive in a lane that it can name. */
export function withPosition(slice: ChunkSlice, slots: ReadonlyMap<number, Slot>, chunk: QueuedChunk): ChunkSlice {
  const { position: _before, isLate: _too, ...rest } = slice;
  const turns = slice.recipients.map(({ index }) => slots.get(index));
  const [first] = turns;
  if (first === undefined || 'atMs' in first) return rest;
  const { lane, position } = first;
  // Where some recipients of a slice have no slot, one would be read as having that of its neighbour.
  if (!turns.every((turn, at) => isDeepStrictEqual(turn, { ...first, position: position + at }))) return rest;
  return { ...rest, position, ...(lane === chunk.lane ? {} : { isLate: true as const }) };
}

/** So long before its own time a recipient is given a slot, which is not before that time. A schedule forgets no slot meanwhile. */
export const dueAheadMs = 1_000;

/** Recipients whose own time has come, or comes before the slots that could be had now. */
export function isDue({ notBeforeMs = 0 }: ChunkRecipient, nowMs: number): boolean {
  return notBeforeMs <= nowMs + dueAheadMs;
}

/** Whole seconds that a chunk waits in its queue for the own time of a recipient, to find it due when it comes. */
export function ownTimeDelaySeconds(dueMs: number, nowMs: number): number {
  return Math.min(maxDelaySeconds, Math.max(0, Math.ceil((dueMs - dueAheadMs - nowMs) / 1_000)));
}

/** When the first recipient of the chunk that may leave at all may do so. */
export function firstDueMs({ slices }: Pick<QueuedChunk, 'slices'>): number {
  return Math.min(...slices.flatMap(({ recipients }) => recipients.map(({ notBeforeMs = 0 }) => notBeforeMs)));
}

/** A slice with the time of its first slot. */
export interface TimedSlice {
  readonly slice: ChunkSlice;
  readonly firstMs: number;
}

/** Undefined for a slice without slots, or whose first one cannot be met any more. */
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

/** What leaves in this run, and what goes back to the queue; in the order of their slots. */
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

/** Whole seconds that a chunk waits in its queue for a slot, to come before it. */
export function queueDelaySeconds(slotMs: number, nowMs: number, leadMs: number = deliveryLeadMs): number {
  return Math.min(maxDelaySeconds, Math.max(0, Math.floor((slotMs - leadMs - nowMs) / 1_000)));
}
