import type { ChunkRecipient, QueuedChunk } from '../dispatch/chunk.ts';
import type { Ending } from '../dispatch/item-state.ts';
import { lastSlotBeforeEndMs, lotAt, type Opening, openingStateAt } from '../dispatch/lots.ts';
import type { Outcome } from '../dispatch/slice.ts';
import type { Schedule } from '../pace/schedule.ts';
import { dueAheadMs, firstSlotMs, isDue, type Slot } from './chunk-time.ts';

/*
 * Before the claim, a closed recipient gets its next opening as `notBeforeMs` and waits without a slot (D56). The call
 * checks again, because slots may move.
 */

/**
 * Returns the openings of a recipient that begin within its time to live, or undefined unless its send is scheduled.
 */
export function openingsOf(
  { lots, expiresAtMs = Number.POSITIVE_INFINITY }: Ending,
  { index }: Pick<ChunkRecipient, 'index'>,
): readonly Opening[] | undefined {
  return lots && lotAt(lots, index).open.filter(([fromMs]) => fromMs < expiresAtMs);
}

/** Returns the outcome when a call at this moment would be outside the openings, else undefined. */
export function outsideOf(chunk: Ending, recipient: Pick<ChunkRecipient, 'index'>, atMs: number): Outcome | undefined {
  const open = openingsOf(chunk, recipient);
  const standing = open && openingStateAt(open, atMs);
  if (standing === undefined || standing.kind === 'open') return undefined;
  if (standing.kind === 'closed') return { state: 'again', dueMs: standing.opensAtMs };
  return { state: 'expired', code: 'expired' };
}

interface InSchedule {
  /** Slots are by index; those outside the openings are removed. */
  readonly slots: Map<number, Slot>;
  readonly schedule: Schedule;
  readonly nowMs: number;
}

/**
 * Checks each recipient by its next slot. If closed, the next opening becomes `notBeforeMs`; without another opening it
 * gets a slot now, and so ends uncalled.
 */
export function withOpenings(chunk: QueuedChunk, { slots, schedule, nowMs }: InSchedule): QueuedChunk {
  if (chunk.lots === undefined) return chunk;
  const waiting = (recipient: ChunkRecipient): ChunkRecipient => {
    const { index, notBeforeMs = 0 } = recipient;
    const open = openingsOf(chunk, recipient) ?? [];
    const slotMs = firstSlotMs({ recipients: [recipient] }, slots, { schedule, nowMs });
    const standing = openingStateAt(open, slotMs ?? Math.max(notBeforeMs, nowMs), lastSlotBeforeEndMs);
    if (standing.kind === 'open') return recipient;
    slots.delete(index);
    if (standing.kind === 'closed') return { ...recipient, notBeforeMs: standing.opensAtMs };
    // The last seconds of the last opening belong to recipients with a slot.
    const endMs = open.at(-1)?.[1] ?? 0;
    if (nowMs < endMs) return { ...recipient, notBeforeMs: endMs + dueAheadMs };
    slots.set(index, { atMs: nowMs });
    return { ...recipient, notBeforeMs: 0 };
  };
  return { ...chunk, slices: chunk.slices.map((slice) => ({ ...slice, recipients: slice.recipients.map(waiting) })) };
}

export function isUndue({ slices }: Pick<QueuedChunk, 'slices'>, nowMs: number): boolean {
  return slices.every(({ recipients }) => !recipients.some((recipient) => isDue(recipient, nowMs)));
}
