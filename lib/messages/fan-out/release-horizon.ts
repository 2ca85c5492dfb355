import { type Schedule, slotMsOf } from '../pace/schedule.ts';
import type { LaneName } from '../pace/segments.ts';

/*
 * A dispatch is released a little at a time, because a cancelled or parked dispatch leaves a hole, but enough for the
 * lane until its round message returns.
 */

const clamped = (least: number, value: number, most: number) => Math.min(most, Math.max(least, value));

/** Returns how far ahead slots are reserved: the time of 200 messages at the lane's present share. */
export function horizonMs(everyMs: number, share: number): number {
  return clamped(20_000, (200 * everyMs) / share, 600_000);
}

/**
 * The round message returns after half the horizon, in case it is late; within a minute, because the lane's share may
 * grow.
 */
export function nextRoundSeconds(horizon: number): number {
  return clamped(5, Math.floor(horizon / 2_000), 60);
}

const longestDelaySeconds = 900;
/** Jitter spreads dispatches that open at one moment, or wait for days. */
const openingSpreadSeconds = 5;
const waitingSpreadSeconds = 60;

/**
 * Returns the delay until something opens (D56): not earlier, for slots before would be lost, or as late as the queue
 * allows. `random` from 0 to 1 adds jitter.
 */
export function openingDelaySeconds(opensAtMs: number, nowMs: number, random: number): number {
  const leftSeconds = Math.max(1, Math.ceil((opensAtMs - nowMs) / 1_000));
  const spread = Math.floor(random * (openingSpreadSeconds + 1));
  if (leftSeconds + spread <= longestDelaySeconds) return leftSeconds + spread;
  return longestDelaySeconds - Math.floor(random * waitingSpreadSeconds);
}

/** Returns the last slot of a lane, or 0 without one. */
export function lastSlotMsOf(schedule: Schedule, { clientId, lane: name }: LaneName): number {
  for (const { lanes } of schedule.segments.toReversed()) {
    const lane = lanes.find((each) => each.clientId === clientId && each.lane === name);
    if (lane !== undefined) {
      return slotMsOf(schedule, { clientId, lane: name, position: lane.first + lane.count - 1 }) ?? 0;
    }
  }
  return 0;
}
