import { pairWaitsMs } from '../accept/pair-waits.ts';
import { straightRecipients } from '../chunk.ts';
import { horizonMs, lastSlotMsOf } from '../fan-out/horizon.ts';
import type { JobHead, Recipient } from '../job.ts';
import { bulkEveryMs, climbStepMs, type NumberPace, unknownPace, urgentEveryMs } from '../pace/number-pace.ts';
import { laneOf } from '../pace/reserve.ts';
import { endMsOf, reserved, type Schedule, slotMsOf, type Wanted } from '../pace/schedule.ts';
import { isLane, type LaneName } from '../pace/segments.ts';
import { tenthFits, urgentLane } from '../pace/urgent.ts';

/** A job that is not there yet, and the number that it would leave from. */
export interface Expected {
  readonly head: Pick<JobHead, 'jobId' | 'clientId' | 'urgent'>;
  readonly recipients: readonly Pick<Recipient, 'to'>[];
  readonly limitPerSecond: number;
  readonly pace: NumberPace;
  readonly nowMs: number;
}

/**
 * When the last message of a job would leave its number, if the job were accepted now (D43 to D45): behind what is due, in
 * turns with those who wait, at a pace that climbs if it was slowed down. The workers are taken to keep up with it.
 */
export function expectedEndMs(job: Expected): number {
  const { head, recipients, nowMs } = job;
  const total = recipients.length;
  if (head.urgent && total <= straightRecipients) return codesEndMs(job, total);
  const waits = pairWaitsMs(recipients);
  // The first turn of a job, or of a small request, comes before those who wait.
  const lane = { clientId: head.clientId, lane: laneOf(head.jobId, total), inFront: true } as const;
  const inTurns = laneEndMs(job, lane, total - waits.size);
  return Math.max(inTurns, ...[...waits.values()].map((waitMs) => nowMs + waitMs));
}

/** One-time codes of a small request: the schedule while it is idle, else the last tenth, taken to be free, if it takes them all. */
function codesEndMs(job: Expected, count: number): number {
  const { head, limitPerSecond, pace, nowMs } = job;
  const everyMs = urgentEveryMs(limitPerSecond, pace, nowMs);
  if (endMsOf(pace.schedule) > nowMs && tenthFits(count, everyMs)) return nowMs + (count - 1) * everyMs;
  return laneEndMs(job, { clientId: head.clientId, lane: urgentLane, inFront: true }, count);
}

function laneEndMs({ limitPerSecond, pace, nowMs }: Expected, lane: Omit<Wanted, 'count'>, count: number): number {
  const everyMs = bulkEveryMs(limitPerSecond, pace, nowMs);
  const others = withOthers(pace.schedule, { lane, count, everyMs, nowMs });
  const { schedule, firstPosition } = reserved(others, { ...lane, count, everyMs, nowMs });
  const lastMs = slotMsOf(schedule, { ...lane, position: firstPosition + count - 1 }) ?? nowMs;
  return climbing({ turns: (lastMs - nowMs) / everyMs, limitPerSecond, pace, nowMs });
}

/**
 * A job reserves no more than its horizon, so a schedule does not say how long its lanes go on. But a job that is not at its end
 * reserves again before half of the horizon is over, which it may have taken while it was alone: lanes that reach further are
 * taken to have as much left as this one.
 */
function withOthers(
  schedule: Schedule,
  wanted: { readonly lane: LaneName; readonly count: number; readonly everyMs: number; readonly nowMs: number },
): Schedule {
  const { lane: own, count, everyMs, nowMs } = wanted;
  const halfMs = horizonMs(everyMs, 1) / 2;
  const others = (schedule.segments.at(-1)?.lanes ?? []).filter(
    (lane) => !isLane(lane, own) && lastSlotMsOf(schedule, lane) > nowMs + halfMs,
  );
  return others.reduce((longer, lane) => reserved(longer, { ...lane, count, everyMs, nowMs }).schedule, schedule);
}

/**
 * The end of so many turns from now on, while what was learned climbs back to the limit. Slots are reserved up to
 * a horizon ahead, and keep the pace of that moment: half of it, on an average.
 */
function climbing({
  turns,
  limitPerSecond,
  pace,
  nowMs,
}: Pick<Expected, 'limitPerSecond' | 'pace' | 'nowMs'> & { readonly turns: number }): number {
  const aheadMs = horizonMs(bulkEveryMs(limitPerSecond, pace, nowMs), 1) / 2;
  const reservedMs = (slotMs: number) => Math.max(nowMs, slotMs - aheadMs);
  let left = turns;
  let atMs = nowMs;
  const leastEveryMs = bulkEveryMs(limitPerSecond, unknownPace, nowMs);
  while (bulkEveryMs(limitPerSecond, pace, reservedMs(atMs)) > leastEveryMs) {
    const everyMs = bulkEveryMs(limitPerSecond, pace, reservedMs(atMs));
    if (left * everyMs <= climbStepMs) break;
    left -= climbStepMs / everyMs;
    atMs += climbStepMs;
  }
  return atMs + left * bulkEveryMs(limitPerSecond, pace, reservedMs(atMs));
}
