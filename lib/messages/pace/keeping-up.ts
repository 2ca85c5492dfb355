import {
  bulkEveryMs,
  bulkPerSecond,
  mostBulkPerSecond,
  type NumberPace,
  slowdownEveryMs,
  slowestPerSecond,
} from './number-pace.ts';
import { atPace } from './schedule.ts';
import { endOf } from './segments.ts';

/*
 * Where the workers are slower than a number, its messages come behind their slots. Each would reserve anew behind all the
 * others and come late again: the workers would do nothing else. So the schedule gets slower. What the number could take
 * beyond that is room for those that are late: they need no other slot.
 */

/** Messages that came behind their slots, by at least so much. */
export interface Behind {
  readonly count: number;
  readonly byMs: number;
  readonly limitPerSecond: number;
  readonly nowMs: number;
}

/** Those of so much time count together. */
const countedForMs = 3_000;
/** They tell when they are half of what leaves in that time, */
const tellingShare = 0.5;
/** at least three batches, for two may be those of workers that have just begun, or died; */
const fewestTelling = 30;
/** and always when they are so many: workers that are much slower than their number have no more in their hands. */
const manyTelling = 100;
/** Messages that are late by so much would make the schedule half as fast: the later, the slower. */
const halvingMs = 8_000;

/** What a number learns of messages that came behind their slots: at most one step in three seconds. */
export function withBehind(pace: NumberPace, { count, byMs, limitPerSecond, nowMs }: Behind): NumberPace {
  const { behind: before, ...known } = pace;
  if (pace.kept !== undefined && Math.abs(nowMs - pace.kept.atMs) < slowdownEveryMs) return pace;
  const goesOn = before !== undefined && Math.abs(nowMs - before.sinceMs) < countedForMs;
  const behind = goesOn ? { ...before, count: before.count + count } : { count, sinceMs: nowMs };
  const perSecond = bulkPerSecond(limitPerSecond, pace, nowMs);
  const telling = (tellingShare * perSecond * countedForMs) / 1_000;
  if (behind.count < Math.min(manyTelling, Math.max(fewestTelling, telling))) return { ...known, behind };
  const slower = perSecond * (halvingMs / (halvingMs + byMs));
  const kept = { ...known, kept: { perSecond: Math.max(slowestPerSecond, slower), atMs: nowMs } };
  return { ...kept, schedule: atPace(pace.schedule, bulkEveryMs(limitPerSecond, kept, nowMs), nowMs) };
}

/**
 * Milliseconds by which messages may leave behind a slot and those after it, so that the number takes no more in any second
 * than it may: as much longer as the schedule is slower than that. 0 where it is not.
 */
export function roomBehindMs(
  slotMs: number,
  {
    pace,
    limitPerSecond,
    nowMs,
  }: { readonly pace: NumberPace; readonly limitPerSecond: number; readonly nowMs: number },
): number {
  const most = mostBulkPerSecond(limitPerSecond, pace, nowMs);
  const present = bulkPerSecond(limitPerSecond, pace, nowMs);
  const laid = pace.schedule.segments
    .filter((segment) => endOf(segment) > slotMs)
    .map(({ everyMs }) => 1_000 / everyMs);
  return Math.max(0, (most / Math.max(present, ...laid) - 1) * 1_000);
}
