import { bulkEveryMs, type NumberPace, urgentEveryMs } from './number-pace.ts';
import type { NumberPaces } from './number-paces.ts';
import { endMsOf, reserved, type Schedule, slotMsOf, type Turn } from './schedule.ts';

/** One-time codes of one client that want to leave a number now. */
export interface UrgentWanted {
  readonly phoneNumberId: string;
  readonly limitPerSecond: number;
  readonly clientId: number;
  readonly count: number;
  readonly seen?: NumberPace;
}

/** Without a turn the slot is in the last tenth of the number and never moves. */
export interface UrgentSlot {
  readonly slotMs: number;
  readonly turn?: Turn;
}

/** The last tenth of each number: slots in a row, one counter. */
export interface UrgentTenths {
  /** At most `count` slots, `everyMs` apart, none after `latestMs`; as many as there are. */
  readonly take: (
    phoneNumberId: string,
    wanted: { readonly count: number; readonly everyMs: number; readonly nowMs: number; readonly latestMs: number },
  ) => Promise<readonly number[]>;
}

/** The lane of a client's one-time codes beside its jobs. */
export const urgentLane = '!';

/** A wait in the tenth that is longer than this is no better than a lane of the schedule. */
const longestWaitMs = 2_000;

/** How many codes the tenth takes at once while it is free. */
export function tenthFits(everyMs: number): number {
  return Math.floor(longestWaitMs / everyMs) + 1;
}

/**
 * A slot for each code (D44), in this order: the schedule while nothing waits in it; the last tenth as far as it is free
 * within two seconds; a lane of the schedule like any other.
 */
export async function reserveUrgent(
  { paces, tenths }: { readonly paces: NumberPaces; readonly tenths: UrgentTenths },
  wanted: UrgentWanted,
  nowMs: number,
): Promise<{ readonly slots: readonly UrgentSlot[]; readonly pace: NumberPace }> {
  const { phoneNumberId, limitPerSecond, count } = wanted;
  const isIdle = (schedule: Schedule, atMs: number) => endMsOf(schedule) <= atMs;
  const idle = await inSchedule(paces, wanted, nowMs, isIdle);
  if (idle.slots !== undefined) return { slots: idle.slots, pace: idle.pace };
  const everyMs = urgentEveryMs(limitPerSecond, idle.pace, nowMs);
  const latestMs = nowMs + longestWaitMs;
  const tenth = await tenths.take(phoneNumberId, { count, everyMs, nowMs, latestMs });
  const slots = tenth.map((slotMs): UrgentSlot => ({ slotMs }));
  if (slots.length === count) return { slots, pace: idle.pace };
  const left = { ...wanted, count: count - slots.length, seen: idle.pace };
  const waiting = await inSchedule(paces, left, nowMs, () => true);
  return { slots: [...slots, ...(waiting.slots ?? [])], pace: waiting.pace };
}

/** Slots undefined: `when` did not hold, nothing was reserved. */
async function inSchedule(
  paces: NumberPaces,
  { phoneNumberId, limitPerSecond, clientId, count, seen }: UrgentWanted,
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
      const change = reserved(current.schedule, { ...lane, count, everyMs, nowMs: atMs });
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
