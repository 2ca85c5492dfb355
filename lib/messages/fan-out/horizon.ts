import { queueAtMs, queueDelaySeconds } from '../pace/delivery-lead.ts';
import { type Schedule, slotMsOf } from '../pace/schedule.ts';
import type { LaneName } from '../pace/segments.ts';

/*
 * How much of a job is released at a time, and when. Little, because what is released keeps its place: what is cancelled or
 * parked leaves no long hole. Enough, for a lane must not run dry before its job message comes again.
 */

const clamped = (least: number, value: number, most: number) => Math.min(most, Math.max(least, value));

/** Messages that are queued by one request, and that a worker takes at once: each batch of them has a record of its own. */
const batchSize = 10;

/**
 * Delays are whole seconds: a wave with slots over so much time is queued batch by batch, each at the moment from which whole
 * seconds lead to its time. That is up to a second of the fan-out, for hundreds of messages, and half a second less of
 * the worker of every batch. A shorter wave is not worth it, and those of a fast number would not be queued in time.
 */
const timedFromMs = 2_000;

/** What a number takes in this time is the most of one wave: its slots are lost when its run dies before it is queued. */
const longestWaveMs = 7_000;

/**
 * Recipients of one wave: as many as have their slots within so much time, in full batches; 0 for a time that is not worth a
 * wave. A wave is two writes, and waits a second for the right moments, so a long one is cheap. Whoever comes later takes
 * turns with it, however long it is.
 */
export function waveCount(withinMs: number, everyMs: number, share: number): number {
  if (withinMs < timedFromMs) return 0;
  const slots = Math.min(longestWaveMs, withinMs * share) / everyMs;
  return clamped(batchSize, batchSize * Math.ceil(slots / batchSize), 500);
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

/** When a message is given to its queue, and the delay that it has there. */
export interface QueueTime {
  readonly queueAtMs: number;
  readonly delaySeconds: number;
}

/** Of the messages with these slots, in their order: those that are queued together come together. */
export function queueTimes(slots: readonly number[], nowMs: number, leadMs: number): QueueTime[] {
  const isLong = Math.max(...slots) - Math.min(...slots) >= timedFromMs;
  return slots.map((slotMs, at) => {
    const batch = slots.slice(at - (at % batchSize), at - (at % batchSize) + batchSize);
    const firstMs = Math.min(...batch);
    const comesTogether = Math.max(...batch) - firstMs <= batchSpanMs;
    const atMs = comesTogether ? firstMs : slotMs;
    return {
      queueAtMs: isLong && comesTogether ? queueAtMs(atMs, nowMs, leadMs) : nowMs,
      delaySeconds: queueDelaySeconds(atMs, nowMs, leadMs),
    };
  });
}
