import { type Schedule, slotMsOf } from '../pace/schedule.ts';
import type { LaneName } from '../pace/segments.ts';

/*
 * How much of a job is released at a time, and when. Little, because what is released keeps its place: what is cancelled or
 * parked leaves no long hole. Enough, for a lane must not run dry before its job message comes again.
 */

const clamped = (least: number, value: number, most: number) => Math.min(most, Math.max(least, value));

/** How far ahead slots are reserved: the time that 200 messages take at the lane's present share. */
export function horizonMs(everyMs: number, share: number): number {
  return clamped(20_000, (200 * everyMs) / share, 600_000);
}

/**
 * When the job message comes again: after half of the horizon, so that the other half is left when it is late; within a
 * minute, because others may leave meanwhile, and what is released is used up sooner.
 */
export function nextRoundSeconds(horizon: number): number {
  return clamped(5, Math.floor(horizon / 2_000), 60);
}

/** The queue keeps a message back for so long at most. */
const longestDelaySeconds = 900;
/** Messages of jobs that open at one moment, or wait for days, come so far apart. */
const openingSpreadSeconds = 5;
const waitingSpreadSeconds = 60;

/**
 * When the message of a job comes again of which nothing may leave before a time (D56): not before it, for slots before it would
 * be lost; or as late as the queue allows. `random`, from 0 to 1, keeps jobs of one moment apart.
 */
export function openingDelaySeconds(opensAtMs: number, nowMs: number, random: number): number {
  const leftSeconds = Math.max(1, Math.ceil((opensAtMs - nowMs) / 1_000));
  const spread = Math.floor(random * (openingSpreadSeconds + 1));
  if (leftSeconds + spread <= longestDelaySeconds) return leftSeconds + spread;
  return longestDelaySeconds - Math.floor(random * waitingSpreadSeconds);
}

/** The last slot that a lane has; 0 when it has none. */
export function lastSlotMsOf(schedule: Schedule, { clientId, lane: name }: LaneName): number {
  for (const { lanes } of schedule.segments.toReversed()) {
    const lane = lanes.find((each) => each.clientId === clientId && each.lane === name);
    if (lane !== undefined) {
      return slotMsOf(schedule, { clientId, lane: name, position: lane.first + lane.count - 1 }) ?? 0;
    }
  }
  return 0;
}
