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
