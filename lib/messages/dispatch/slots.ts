import type { DispatchMessage } from '../job.ts';
import { deliveryLeadMs, queueDelaySeconds } from '../pace/delivery-lead.ts';
import { roomBehindMs } from '../pace/keeping-up.ts';
import { blockedUntilMs, type NumberPace, recipientHashOf } from '../pace/number-pace.ts';
import { slotMsOf, trustedUntilMs } from '../pace/schedule.ts';
import { lateness, type Settlement } from './claim.ts';

/** The millisecond in which a message may leave (D43), by when it must have left, and from when on it is claimed. */
export interface Slot {
  readonly slotMs: number;
  readonly untilMs: number;
  readonly claimAtMs: number;
}

/** What a message is to do about its time. The message comes back with its turn, if it was given one. */
export type Placed = { readonly message: DispatchMessage } & (
  | ({ readonly kind: 'slot' } & Slot)
  /** It may not be sent any more: no slot is needed to write that down. */
  | { readonly kind: 'late'; readonly settlement: Settlement }
  /** Its job was stopped: the same. */
  | { readonly kind: 'stopped'; readonly settlement: Settlement }
  | { readonly kind: 'later'; readonly delaySeconds: number }
  /** The pace of its number could not be read or written. */
  | { readonly kind: 'unplaced' }
);

/**
 * A slot that has passed by more is no licence (D43): the pace is nine tenths, so calls that are late by a ninth of a second
 * fill the limit. What is left of that is for the way to the platform.
 */
const missedAfterMs = 75;
/** So much is left. */
const wayMs = 36;

/** Who waits longer for its slot waits in the queue, and comes shortly before it (pace/delivery-lead.ts). */
const farAfterMs = 4_000;

/** Messages whose slots lie so close are claimed at once, so that one request reads how their jobs stand. */
const claimedTogetherMs = 1_000;

/** Until when a message may leave in its slot: longer where the schedule is slower than the number (pace/keeping-up.ts). */
export function usableUntilMs(message: DispatchMessage, slotMs: number, pace: NumberPace, nowMs: number): number {
  const { turn, limitPerSecond } = message;
  // A slot beside the schedule is as close to the next one as it may be.
  const roomMs = turn === undefined ? 0 : roomBehindMs(slotMs, { pace, limitPerSecond, nowMs });
  return slotMs + Math.max(missedAfterMs, roomMs - wayMs);
}

/** Whatever the second: a schedule that is read so long before a slot can be trusted for it (pace/schedule.ts). */
export const trustedBeforeMs = 700;

/**
 * How long before its slot a message is claimed: longer with each slot that has passed meanwhile, or where claims are slow
 * nothing would ever be sent.
 */
export function claimLeadMs(missedSlots: number): number {
  return Math.min(600, 50 * 4 ** missedSlots);
}

/** The place of a message that may not be sent any more: it ends so, whatever clocks say later. Undefined while it may. */
export function placedLate(message: DispatchMessage, nowMs: number): Placed | undefined {
  const settlement = lateness(message, nowMs);
  return settlement === undefined ? undefined : { kind: 'late', message, settlement };
}

/** What is known without a slot: that the message is too late, or that its recipient is not to be written to yet. */
export function placedWithoutSlot(message: DispatchMessage, pace: NumberPace, nowMs: number): Placed | undefined {
  const late = placedLate(message, nowMs);
  if (late !== undefined) return late;
  const recipient = message.request.to ?? message.request.recipient;
  const blockedMs = recipient === undefined ? undefined : blockedUntilMs(pace, recipientHashOf(recipient), nowMs);
  const untilMs = Math.max(blockedMs ?? 0, message.notBeforeMs ?? 0);
  if (untilMs <= nowMs) return undefined;
  return { kind: 'later', message, delaySeconds: Math.ceil((untilMs - nowMs) / 1_000) };
}

/** The slot of the turn that a message has, if it has one in which it may still leave. */
export function slotAhead(message: DispatchMessage, pace: NumberPace, nowMs: number): number | undefined {
  const slotMs = slotOf(message, pace);
  return slotMs === undefined || nowMs > usableUntilMs(message, slotMs, pace, nowMs) ? undefined : slotMs;
}

/** What came later was held up: by a queue that stood still, or by a worker that died. That says nothing of the others. */
const heldUpAfterMs = 5_000;

/** By how much each of these messages has come behind its slot, of those that the workers were too slow for. */
export function behindByMs(messages: readonly DispatchMessage[], pace: NumberPace, nowMs: number): number[] {
  return messages.flatMap((message) => {
    const slotMs = slotOf(message, pace);
    if (slotMs === undefined) return [];
    return nowMs - usableUntilMs(message, slotMs, pace, nowMs) < heldUpAfterMs ? [nowMs - slotMs] : [];
  });
}

function slotOf({ turn }: DispatchMessage, { schedule }: NumberPace): number | undefined {
  return turn === undefined ? undefined : slotMsOf(schedule, turn);
}

/** What comes later is a copy, or was held by a worker that died: no lead would help it. */
const cameLateWithinMs = 2_000;
/** Nor what was queued without a delay, at the beginning of its job. */
const atOnceMs = 3_000;

/** Whether a message has come out of its queue when its slot had just passed: its delivery was too near to its slot. */
export function cameLate(message: DispatchMessage, pace: NumberPace, nowMs: number): boolean {
  const { attempt, missedSlots = 0, acceptedAtMs } = message;
  const slotMs = slotOf(message, pace);
  if (slotMs === undefined || attempt > 0 || missedSlots > 0 || slotMs - acceptedAtMs < atOnceMs) return false;
  return slotAhead(message, pace, nowMs) === undefined && nowMs - slotMs < cameLateWithinMs;
}

/** The pace of a number, and a time from before it was read. */
export interface Look {
  readonly pace: NumberPace;
  readonly readAtMs: number;
}

/**
 * What a message with this slot does: waits in the queue for a far one, takes one that nobody may move any more, or
 * (undefined) waits until that is so.
 */
export function placedAt(
  message: DispatchMessage,
  { slotMs, pace, readAtMs, nowMs }: Look & { readonly slotMs: number; readonly nowMs: number },
): Placed | 'trusted' | undefined {
  if (slotMs - nowMs > farAfterMs) {
    return { kind: 'later', message, delaySeconds: queueDelaySeconds(slotMs, nowMs, deliveryLeadMs(pace)) };
  }
  return slotMs < trustedUntilMs(readAtMs) ? 'trusted' : undefined;
}

/** From when on messages are claimed whose slots are known: those that lie close, together. In the order given. */
export function claimTimes(slots: readonly { readonly slotMs: number; readonly leadMs: number }[]): number[] {
  const claimAtMs = new Map<object, number>();
  let group: (typeof slots)[number][] = [];
  const close = () => {
    const firstMs = Math.min(...group.map(({ slotMs, leadMs }) => slotMs - leadMs));
    for (const slot of group) claimAtMs.set(slot, firstMs);
    group = [];
  };
  for (const slot of slots.toSorted((one, other) => one.slotMs - other.slotMs)) {
    const [first] = group;
    if (first !== undefined && slot.slotMs - first.slotMs > claimedTogetherMs) close();
    group.push(slot);
  }
  close();
  return slots.map((slot) => claimAtMs.get(slot) ?? slot.slotMs);
}
