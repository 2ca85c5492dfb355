import type { ChunkRecipient, QueuedChunk } from '../chunk.ts';
import { lastSlotBeforeEndMs, lotAt, type Opening, standingAt } from '../lots.ts';
import type { Schedule } from '../pace/schedule.ts';
import { dueAheadMs, firstSlotMs, isDue, type Slot } from './chunk-time.ts';
import type { Outcome } from './claims/slice.ts';

/*
 * When the recipients of a chunk may be called, for a send with a time of its own (D56). Before the claim, whom no opening takes is
 * given the next one as its own time, and waits in the queue without a slot. After the claim, each is judged once more when the
 * call begins: slots may have been moved.
 */

type OfSend = Pick<QueuedChunk, 'lots' | 'expiresAtMs'>;

/** When a recipient may be called: undefined where its send has no time of its own. What opens after its time to live is none. */
export function openingsOf(
  { lots, expiresAtMs = Number.POSITIVE_INFINITY }: OfSend,
  { index }: Pick<ChunkRecipient, 'index'>,
): readonly Opening[] | undefined {
  return lots && lotAt(lots, index).open.filter(([fromMs]) => fromMs < expiresAtMs);
}

/** How a recipient ends whose call would begin at that moment, outside of its openings; undefined: it may begin. */
export function outsideOf(chunk: OfSend, recipient: Pick<ChunkRecipient, 'index'>, atMs: number): Outcome | undefined {
  const open = openingsOf(chunk, recipient);
  const standing = open && standingAt(open, atMs);
  if (standing === undefined || standing.kind === 'open') return undefined;
  if (standing.kind === 'closed') return { state: 'again', dueMs: standing.opensAtMs };
  return { state: 'expired', code: 'expired' };
}

/** How a chunk stands in the schedule of its number. */
interface InSchedule {
  /** By index. What no opening takes has none afterwards. */
  readonly slots: Map<number, Slot>;
  readonly schedule: Schedule;
  readonly nowMs: number;
}

/**
 * The chunk with the times of openings as times of its recipients. Who has a slot that is to come is judged by it, any other by the
 * moment at which it could be had. For whom nothing opens any more ends at once, uncalled: its slot is now.
 */
export function withOpenings(chunk: QueuedChunk, { slots, schedule, nowMs }: InSchedule): QueuedChunk {
  if (chunk.lots === undefined) return chunk;
  const waiting = (recipient: ChunkRecipient): ChunkRecipient => {
    const { index, notBeforeMs = 0 } = recipient;
    const open = openingsOf(chunk, recipient) ?? [];
    const slotMs = firstSlotMs({ recipients: [recipient] }, slots, { schedule, nowMs });
    const standing = standingAt(open, slotMs ?? Math.max(notBeforeMs, nowMs), lastSlotBeforeEndMs);
    if (standing.kind === 'open') return recipient;
    slots.delete(index);
    if (standing.kind === 'closed') return { ...recipient, notBeforeMs: standing.opensAtMs };
    // In the last seconds of the last opening it is left to those that have a slot.
    const endMs = open.at(-1)?.[1] ?? 0;
    if (nowMs < endMs) return { ...recipient, notBeforeMs: endMs + dueAheadMs };
    slots.set(index, { atMs: nowMs });
    return { ...recipient, notBeforeMs: 0 };
  };
  return { ...chunk, slices: chunk.slices.map((slice) => ({ ...slice, recipients: slice.recipients.map(waiting) })) };
}

/** Whether nobody of the chunk is due. */
export function isUndue({ slices }: Pick<QueuedChunk, 'slices'>, nowMs: number): boolean {
  return slices.every(({ recipients }) => !recipients.some((recipient) => isDue(recipient, nowMs)));
}
