import type { Channel } from '../../../lib/access/directory.ts';
import type { LiveValues } from '../../../lib/channels/channel.ts';
import { bulkPerSecond, capOf, type NumberPace, perSecondOf } from '../../../lib/messages/pace/number-pace.ts';
import { laneOf } from '../../../lib/messages/pace/reserve.ts';
import { type Schedule, slotMsOf } from '../../../lib/messages/pace/schedule.ts';
import type { LaneName } from '../../../lib/messages/pace/segments.ts';
import { urgentLane } from '../../../lib/messages/pace/urgent.ts';
import { heldAsJson, heldBy, heldNotes, holdTable } from './holds-output.ts';
import type { OpenHold } from './open-holds.ts';
import { asJson, type DispatchOutcomes, dispatchTable, timeOf, totalLine } from './outcomes-output.ts';

export interface LimitOfNumber {
  readonly limitPerSecond: number;
  readonly origin: string;
}

export interface NumberFacts {
  readonly channel: Channel;
  readonly number: LimitOfNumber;
  readonly pace: NumberPace;
  /** A text says why the platform said nothing. */
  readonly platform: LiveValues | string;
  readonly senders: readonly number[];
  readonly holds: readonly OpenHold[];
  readonly waiting: { readonly lanes: readonly WaitingLane[]; readonly dispatches: readonly DispatchOutcomes[] };
}

/** Tells all facts of a number for a terminal. */
export function numberAsLines(facts: NumberFacts, stage: string | undefined, nowMs: number): string[] {
  const { channel, number, pace, senders, holds } = facts;
  const held = heldBy(holds, []);
  return [
    `did ${channel.did}: number ${channel.phoneNumberId} of waba ${channel.wabaId}, channel ${channel.channelId}`,
    ...paceLines({ ...number, pace }, nowMs),
    `platform  ${platformWords(facts.platform)}`,
    `senders   ${senders.map((id) => `client ${id}`).join(', ')}`,
    ...(holds.length === 0
      ? ['held      nothing of this number']
      : ['held', ...[...holdTable(held, [channel]), ...heldNotes(held, stage)].map((line) => `  ${line}`)]),
    ...waitingLines(facts.waiting),
  ];
}

function platformWords(platform: NumberFacts['platform']): string {
  if (typeof platform === 'string') return platform;
  const { status, qualityRating, throughputLevel, currentLimit, isOnBizApp } = platform;
  const facts = [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(qualityRating === undefined ? [] : [`quality ${qualityRating}`]),
    ...(throughputLevel === undefined ? [] : [`level ${throughputLevel}`]),
    ...(currentLimit === undefined ? [] : [`messaging limit ${currentLimit}`]),
    ...(isOnBizApp === true ? ['in the business app, too'] : []),
  ];
  return facts.length === 0 ? 'says nothing of it' : facts.join(', ');
}

function waitingLines({ lanes, dispatches }: NumberFacts['waiting']): string[] {
  if (lanes.length === 0) return ['waiting   nothing has a slot of this number'];
  const dispatchIds = dispatches.map(({ dispatch }) => dispatch.head.dispatchId);
  return [
    `waiting   ${slotsIn(lanes)} messages have slots, the last at ${timeOf(lastSlotMs(lanes))}`,
    ...lanes.map((lane) => laneLine(lane, dispatchIds)),
    ...(dispatches.length === 0
      ? []
      : [...dispatchTable(dispatches).map((line) => `  ${line}`), `  ${totalLine(dispatches)}`]),
  ];
}

const slotsIn = (lanes: readonly WaitingLane[]) => lanes.reduce((sum, { count }) => sum + count, 0);
const lastSlotMs = (lanes: readonly WaitingLane[]) => Math.max(...lanes.map(({ lastMs }) => lastMs));

/** Programs read this: the same facts. */
export function numberAsJson({ channel, number, pace, platform, senders, holds, waiting }: NumberFacts, nowMs: number) {
  const { limitPerSecond, origin } = number;
  const cap = capOf(pace, nowMs);
  const { lanes, dispatches } = waiting;
  const dispatchIds = dispatches.map(({ dispatch }) => dispatch.head.dispatchId);
  return {
    ...{ did: channel.did, phone_number_id: channel.phoneNumberId },
    ...{ waba_id: channel.wabaId, channel_id: channel.channelId },
    limit: { per_second: limitPerSecond, origin },
    cap: cap === undefined ? undefined : { per_second: cap, until: timeOf(pace.capped?.untilMs ?? nowMs) },
    pace: {
      per_second: perSecondOf(limitPerSecond, pace, nowMs),
      bulk_per_second: bulkPerSecond(limitPerSecond, pace, nowMs),
    },
    platform: typeof platform === 'string' ? { not_told: platform } : platformAsJson(platform),
    senders,
    held: heldAsJson(heldBy(holds, [])).held,
    waiting: lanes.map((lane) => ({
      client_id: lane.clientId,
      of: whoseLane(lane, dispatchIds),
      slots: lane.count,
      last: timeOf(lane.lastMs),
    })),
    dispatches: dispatches.map(asJson),
  };
}

function platformAsJson({ status, qualityRating, throughputLevel, currentLimit, isOnBizApp }: LiveValues) {
  return {
    ...{ status, quality_rating: qualityRating, throughput_level: throughputLevel },
    ...{ messaging_limit: currentLimit, is_on_biz_app: isOnBizApp },
  };
}

/** Tells the limit and the pace of a number, as lines for a terminal. */
function paceLines(
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
export function isLaneOf(dispatchId: string, { lane }: LaneName): boolean {
  return laneOf(dispatchId, Number.POSITIVE_INFINITY) === nameOf(lane);
}

/** `dispatchIds` are the dispatches that the lane may belong to. */
function laneLine(waiting: WaitingLane, dispatchIds: readonly string[]): string {
  const { clientId, lane, count, lastMs } = waiting;
  const late = lane.endsWith('~') ? ', late' : '';
  const slots = `${count} ${count === 1 ? 'slot' : 'slots'}, the last at ${timeOf(lastMs)}`;
  return `  client ${clientId}, ${whoseLane(waiting, dispatchIds)}: ${slots}${late}`;
}

function whoseLane(waiting: WaitingLane, dispatchIds: readonly string[]): string {
  const name = nameOf(waiting.lane);
  if (name === urgentLane) return 'one-time codes';
  if (name === '*') return 'small requests';
  return `dispatch ${dispatchIds.find((dispatchId) => isLaneOf(dispatchId, waiting)) ?? `...${name}`}`;
}

/** Drops the mark of late messages. */
const nameOf = (lane: string) => lane.replace(/~$/, '');

const rounded = (perSecond: number) => String(Math.round(perSecond * 10) / 10);
