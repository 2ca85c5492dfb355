import { bulkEveryMs, type NumberPace, urgentEveryMs } from './number-pace.ts';
import type { NumberPaces } from './number-paces.ts';
import { sumOf } from './round-robin.ts';
import { endMsOf, reserved, type Schedule, slotMsOf, type Turn } from './schedule.ts';

export interface UrgentSlotRequest {
  readonly phoneNumberId: string;
  readonly limitPerSecond: number;
  readonly clientId: number;
  readonly sizes: readonly number[];
  readonly seen?: NumberPace;
}

/** Without a turn, the slot is in the last tenth and never moves. */
export interface UrgentSlot {
  readonly slotMs: number;
  readonly turn?: Turn;
}

/** Each number's last tenth has consecutive slots and one counter. */
export interface UrgentCapacity {
  /** Takes slots for the first requests whose codes all fit before `latestMs`, `everyMs` apart. */
  readonly take: (
    phoneNumberId: string,
    wanted: {
      readonly sizes: readonly number[];
      readonly everyMs: number;
      readonly nowMs: number;
      readonly latestMs: number;
    },
  ) => Promise<readonly number[]>;
}

/** A client's one-time codes have it beside its dispatches. */
export const urgentLane = '!';

/** A longer wait in the tenth is no better than a lane of the schedule, whose turn begins as soon. */
const longestWaitMs = 1_000;

/** Tells whether an idle tenth takes this many codes at once. */
export function fitsUrgentCapacity(count: number, everyMs: number): boolean {
  return fittingCodes([count], { everyMs, leftMs: longestWaitMs }) === count;
}

/** Returns the codes of the first requests that the tenth takes whole, the last slot at most `leftMs` away. */
export function fittingCodes(
  sizes: readonly number[],
  { everyMs, leftMs }: { readonly everyMs: number; readonly leftMs: number },
): number {
  const slots = Math.floor(leftMs / everyMs) + 1;
  let codes = 0;
  for (const size of sizes) {
    if (codes + size > slots) break;
    codes += size;
  }
  return codes;
}

/**
 * Reserves slots for codes (D44): in an idle schedule, else in the last tenth within a second, else in a lane in front
 * (D45). A request is never split, for its slice is one try.
 */
export async function reserveUrgent(
  { paces, urgentCapacity }: { readonly paces: NumberPaces; readonly urgentCapacity: UrgentCapacity },
  wanted: UrgentSlotRequest,
  nowMs: number,
): Promise<{ readonly slots: readonly UrgentSlot[]; readonly pace: NumberPace }> {
  const { phoneNumberId, limitPerSecond, sizes } = wanted;
  const count = sumOf(sizes);
  const isIdle = (schedule: Schedule, atMs: number) => endMsOf(schedule) <= atMs;
  const idle = await inSchedule(paces, { ...wanted, count }, nowMs, isIdle);
  if (idle.slots !== undefined) return { slots: idle.slots, pace: idle.pace };
  const everyMs = urgentEveryMs(limitPerSecond, idle.pace, nowMs);
  const latestMs = nowMs + longestWaitMs;
  const tenth = await urgentCapacity.take(phoneNumberId, { sizes, everyMs, nowMs, latestMs });
  const slots = tenth.map((slotMs): UrgentSlot => ({ slotMs }));
  if (slots.length === count) return { slots, pace: idle.pace };
  const left = { ...wanted, count: count - slots.length, seen: idle.pace };
  const waiting = await inSchedule(paces, left, nowMs, () => true);
  return { slots: [...slots, ...(waiting.slots ?? [])], pace: waiting.pace };
}

/** `slots` is undefined when `when` was false: nothing was reserved. */
async function inSchedule(
  paces: NumberPaces,
  {
    phoneNumberId,
    limitPerSecond,
    clientId,
    count,
    seen,
  }: Omit<UrgentSlotRequest, 'sizes'> & { readonly count: number },
  nowMs: number,
  when: (schedule: Schedule, atMs: number) => boolean,
): Promise<{ readonly slots: readonly UrgentSlot[] | undefined; readonly pace: NumberPace }> {
  const lane = { clientId, lane: urgentLane };
  const { pace, result: firstPosition } = await paces.change<number | undefined>(
    phoneNumberId,
    seen,
    (current, waitedMs) => {
      const atMs = nowMs + waitedMs;
      if (!when(current.schedule, atMs)) return { pace: current, result: undefined };
      const everyMs = bulkEveryMs(limitPerSecond, current, atMs);
      const change = reserved(current.schedule, { ...lane, count, inFront: true, everyMs, nowMs: atMs });
      return { pace: { ...current, schedule: change.schedule }, result: change.firstPosition };
    },
  );
  if (firstPosition === undefined) return { slots: undefined, pace };
  const turns = Array.from({ length: count }, (_, at): Turn => ({ ...lane, position: firstPosition + at }));
  return {
    slots: turns.flatMap((turn) => {
      const slotMs = slotMsOf(pace.schedule, turn);
      return slotMs === undefined ? [] : [{ slotMs, turn }];
    }),
    pace,
  };
}
