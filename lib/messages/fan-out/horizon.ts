import { bulkShare } from '../pace/number-pace.ts';
import { type Schedule, slotMsOf } from '../pace/schedule.ts';
import type { LaneName } from '../pace/segments.ts';

/*
 * How much of a job is released at a time. Little, because what is released keeps its place: a single message of somebody
 * else never waits behind a wave for more than a second, and what is cancelled or parked leaves no long hole. Enough, for a
 * lane must not run dry before its job message comes again.
 */

const clamped = (least: number, value: number, most: number) => Math.min(most, Math.max(least, value));

/** Messages that are queued by one request, and that a worker takes at once: each batch of them has a record of its own. */
const batchSize = 10;

/** Recipients of one wave: those of a second, in full batches. Whoever comes later takes turns with it, however long it is. */
export function waveCount(perSecond: number): number {
  return clamped(batchSize, batchSize * Math.ceil((bulkShare * perSecond) / batchSize), 500);
}

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

/** A worker holds the whole batch until its last slot: where slots lie further apart, each message comes for itself. */
const batchSpanMs = 1_000;

/** The delays of messages with these slots, in their order: those that are queued together come together. */
export function queueDelays(slots: readonly number[], nowMs: number): number[] {
  return slots.map((slotMs, at) => {
    const batch = slots.slice(at - (at % batchSize), at - (at % batchSize) + batchSize);
    const firstMs = Math.min(...batch);
    return queueDelaySeconds(Math.max(...batch) - firstMs <= batchSpanMs ? firstMs : slotMs, nowMs);
  });
}

/** Seconds for which a message waits in the queue, to come a moment before its time. */
export function queueDelaySeconds(atMs: number, nowMs: number): number {
  return clamped(0, Math.floor((atMs - nowMs) / 1_000) - 1, 900);
}
