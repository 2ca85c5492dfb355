import { bulkPerSecond, capOf, type NumberPace, perSecondOf } from '../../lib/messages/pace/number-pace.ts';
import { laneOf } from '../../lib/messages/pace/reserve.ts';
import { type Schedule, slotMsOf } from '../../lib/messages/pace/schedule.ts';
import type { LaneName } from '../../lib/messages/pace/segments.ts';
import { urgentLane } from '../../lib/messages/pace/urgent.ts';
import { timeOf } from './outcomes-output.ts';

/** Tells the limit and the pace of a number, as lines for a terminal. */
export function paceLines(
  {
    limitPerSecond,
    origin,
    pace,
  }: { readonly limitPerSecond: number; readonly origin: string; readonly pace: NumberPace },
  nowMs: number,
): string[] {
  const { learned, capped, slowUntilMs = 0 } = pace;
  const cap = capOf(pace, nowMs);
  const now = perSecondOf(limitPerSecond, pace, nowMs);
  const isSlowed = learned !== undefined && now < Math.min(limitPerSecond, cap ?? limitPerSecond);
  return [
    `limit     ${limitPerSecond} a second, ${origin}`,
    ...(cap === undefined || capped === undefined
      ? []
      : [
          `cap       ${cap} a second until ${timeOf(capped.untilMs)}, by an operator${cap < limitPerSecond ? '' : ': the limit is lower and counts'}`,
        ]),
    `pace      ${rounded(now)} a second now, ${rounded(bulkPerSecond(limitPerSecond, pace, nowMs))} of them for all but one-time codes`,
    ...(isSlowed
      ? [`          refused for its pace at ${timeOf(learned.atMs)}; climbs back within five minutes of it`]
      : []),
    ...(slowUntilMs > nowMs
      ? [`          its calls have had no answer for a while, as of ${timeOf(slowUntilMs)}`]
      : []),
  ];
}

export interface WaitingLane extends LaneName {
  readonly count: number;
  readonly lastMs: number;
}

/** Returns lanes with future slots, sorted by their last slot. */
export function waitingLanes(schedule: Schedule, nowMs: number): WaitingLane[] {
  const lanes = new Map<string, WaitingLane>();
  for (const { lanes: own } of schedule.segments) {
    for (const { clientId, lane, first, count } of own) {
      for (let position = first; position < first + count; position += 1) {
        const slotMs = slotMsOf(schedule, { clientId, lane, position });
        if (slotMs === undefined || slotMs <= nowMs) continue;
        const name = `${clientId}#${lane}`;
        const { count: before = 0, lastMs = 0 } = lanes.get(name) ?? {};
        lanes.set(name, { clientId, lane, count: before + 1, lastMs: Math.max(lastMs, slotMs) });
      }
    }
  }
  return [...lanes.values()].sort((one, other) => one.lastMs - other.lastMs);
}

/** Tells whether a lane belongs to the dispatch; lanes of small requests and one-time codes belong to none. */
export function isLaneOf(jobId: string, { lane }: LaneName): boolean {
  return laneOf(jobId, Number.POSITIVE_INFINITY) === nameOf(lane);
}

/** `jobIds` are the dispatches that the lane may belong to. */
export function laneLine(waiting: WaitingLane, jobIds: readonly string[]): string {
  const { clientId, lane, count, lastMs } = waiting;
  const late = lane.endsWith('~') ? ', late' : '';
  const slots = `${count} ${count === 1 ? 'slot' : 'slots'}, the last at ${timeOf(lastMs)}`;
  return `  client ${clientId}, ${whoseLane(waiting, jobIds)}: ${slots}${late}`;
}

function whoseLane(waiting: WaitingLane, jobIds: readonly string[]): string {
  const name = nameOf(waiting.lane);
  if (name === urgentLane) return 'one-time codes';
  if (name === '*') return 'small requests';
  return `job ${jobIds.find((jobId) => isLaneOf(jobId, waiting)) ?? `...${name}`}`;
}

/** Drops the mark of late messages. */
const nameOf = (lane: string) => lane.replace(/~$/, '');

const rounded = (perSecond: number) => String(Math.round(perSecond * 10) / 10);
