import { straightRecipients } from '../dispatch/chunk.ts';
import type { DispatchHead, Recipient } from '../dispatch/head.ts';
import { pairRateDelaysMs } from '../dispatch/pair-rate-delays.ts';
import { horizonMs, lastSlotMsOf } from '../fan-out/release-horizon.ts';
import { bulkEveryMs, climbStepMs, type NumberPace, unknownPace, urgentEveryMs } from '../pace/number-pace.ts';
import { laneOf } from '../pace/reserve.ts';
import { endMsOf, reserved, type Schedule, type SlotRequest, slotMsOf } from '../pace/schedule.ts';
import { isLane, type LaneName } from '../pace/segments.ts';
import { fitsUrgentCapacity, urgentLane } from '../pace/urgent.ts';

export interface Expected {
  readonly head: Pick<DispatchHead, 'dispatchId' | 'clientId' | 'urgent'>;
  readonly recipients: readonly Pick<Recipient, 'to'>[];
  readonly limitPerSecond: number;
  readonly pace: NumberPace;
  readonly nowMs: number;
}

/**
 * Returns when the dispatch's last message would leave, if accepted now (D43 to D45): behind due slots, in turns with
 * waiting lanes, at a pace that may climb. Assumes that workers keep up.
 */
export function expectedEndMs(dispatch: Expected): number {
  const { head, recipients, nowMs } = dispatch;
  const total = recipients.length;
  if (head.urgent && total <= straightRecipients) return codesEndMs(dispatch, total);
  const waits = pairRateDelaysMs(recipients);
  // The first turn of a dispatch or small request comes before waiting lanes.
  const lane = { clientId: head.clientId, lane: laneOf(head.dispatchId, total), inFront: true } as const;
  const inTurns = laneEndMs(dispatch, lane, total - waits.size);
  return Math.max(inTurns, ...[...waits.values()].map((waitMs) => nowMs + waitMs));
}

/**
 * Returns the end of one-time codes of a small request: in an idle schedule, else in the last tenth, assumed free, if
 * it takes all.
 */
function codesEndMs(dispatch: Expected, count: number): number {
  const { head, limitPerSecond, pace, nowMs } = dispatch;
  const everyMs = urgentEveryMs(limitPerSecond, pace, nowMs);
  if (endMsOf(pace.schedule) > nowMs && fitsUrgentCapacity(count, everyMs)) return nowMs + (count - 1) * everyMs;
  return laneEndMs(dispatch, { clientId: head.clientId, lane: urgentLane, inFront: true }, count);
}

function laneEndMs({ limitPerSecond, pace, nowMs }: Expected, lane: Omit<SlotRequest, 'count'>, count: number): number {
  const everyMs = bulkEveryMs(limitPerSecond, pace, nowMs);
  const others = withOthers(pace.schedule, { lane, count, everyMs, nowMs });
  const { schedule, firstPosition } = reserved(others, { ...lane, count, everyMs, nowMs });
  const lastMs = slotMsOf(schedule, { ...lane, position: firstPosition + count - 1 }) ?? nowMs;
  return climbing({ turns: (lastMs - nowMs) / everyMs, limitPerSecond, pace, nowMs });
}

/**
 * A schedule shows only reserved slots, and unfinished dispatches reserve again within half a horizon. So lanes that
 * reach further are assumed to have as much left as this dispatch.
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
 * Returns the end of `turns` from now, while a learned pace climbs back. Slots keep the pace of their reservation: on
 * average half a horizon ahead.
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
