import type { Channel } from '../../../lib/access/directory.ts';
import type { LiveValues } from '../../../lib/channels/channel.ts';
import { bulkPerSecond, capOf, type KnownPace, perSecondOf } from '../../../lib/messages/pace/known-pace.ts';
import type { SenderState } from '../../../lib/messages/sender/sender-ports.ts';
import { tableOf } from '../table.ts';
import { heldAsJson, heldBy, heldNotes, holdTable } from './holds-output.ts';
import type { NumberBacklog, Waiting } from './number-backlog.ts';
import type { OpenHold } from './open-holds.ts';
import { timeOf } from './outcomes-output.ts';

export interface LimitOfNumber {
  readonly limitPerSecond: number;
  readonly origin: string;
}

export interface NumberFacts {
  readonly channel: Channel;
  readonly number: LimitOfNumber;
  readonly pace: KnownPace;
  /** A text says why the platform said nothing. */
  readonly platform: LiveValues | string;
  /** They may send from it. */
  readonly clients: readonly number[];
  readonly holds: readonly OpenHold[];
  readonly backlog: NumberBacklog;
}

/** Tells all facts of a number for a terminal. */
export function numberAsLines(facts: NumberFacts, stage: string | undefined, nowMs: number): string[] {
  const { channel, number, pace, clients, holds, backlog } = facts;
  const held = heldBy(holds, []);
  return [
    `did ${channel.did}: number ${channel.phoneNumberId} of waba ${channel.wabaId}, channel ${channel.channelId}`,
    ...paceLines({ ...number, pace }, nowMs),
    `platform  ${platformWords(facts.platform)}`,
    `clients   ${clients.join(', ')}`,
    ...(holds.length === 0
      ? ['held      nothing of this number']
      : ['held', ...[...holdTable(held, [channel]), ...heldNotes(held, stage)].map((line) => `  ${line}`)]),
    ...backlog.senders.flatMap((state, part) => senderLines(state, { part, of: backlog.senders.length }, nowMs)),
    ...waitingLines(backlog, nowMs),
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

/** The log of messages-dispatch has the run by the first part of its name. */
function senderLines(
  { lease, wakeAtMs, lost = 0, service = {} }: SenderState,
  { part, of }: { readonly part: number; readonly of: number },
  nowMs: number,
): string[] {
  const name = (of === 1 ? 'sender' : `sender ${part}`).padEnd(10);
  const served = Object.entries(service).map(([client, units]) => `client ${client} ${Math.round(units)}`);
  const isFresh = lease !== undefined && lease.untilMs > nowMs;
  return [
    isFresh ? `${name}${lease.owner}` : `${name}none`,
    ...(lease === undefined
      ? []
      : [`          its lease ${isFresh ? 'lasts until' : 'was not given back, over at'} ${timeOf(lease.untilMs)}`]),
    ...(wakeAtMs > nowMs ? [`          its next wake comes at ${timeOf(wakeAtMs)}`] : []),
    ...(lost > 0 ? [`          ${lost} leases in a row were lost: a dispatch may kill its process`] : []),
    ...(served.length > 0 ? [`          served beyond the least: ${served.join(', ')}`] : []),
  ];
}

const mostShown = 50;

function waitingLines({ waiting }: NumberBacklog, nowMs: number): string[] {
  if (waiting.length === 0) return ['backlog   empty'];
  const rows = waiting
    .slice(0, mostShown)
    .map(({ entry, left, dueMs, waitsFor, code }) => [
      entry.dispatchId,
      String(entry.clientId),
      left,
      dueMs > nowMs ? secondOf(dueMs) : undefined,
      [...(entry.front ? ['front'] : []), waitsFor, ...(code === undefined ? [] : [code])].join(' '),
    ]);
  const recipients = waiting.reduce((sum, { left = 0 }) => sum + left, 0);
  return [
    `backlog   ${waiting.length} dispatches, some ${recipients} recipients left; the next one first`,
    ...tableOf(['DISPATCH', 'CLIENT', 'LEFT', 'DUE', 'WAITS_FOR'], rows),
    ...(waiting.length > mostShown ? [`... and ${waiting.length - mostShown} more: --json has all`] : []),
  ];
}

/** A table of 80 columns has no room for milliseconds. */
const secondOf = (ms: number) => timeOf(ms).replace(/\.\d+Z$/, 'Z');

/** Programs read this: the same facts. */
export function numberAsJson({ channel, number, pace, platform, clients, holds, backlog }: NumberFacts, nowMs: number) {
  const { limitPerSecond, origin } = number;
  const cap = capOf(pace, nowMs);
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
    clients,
    held: heldAsJson(heldBy(holds, [])).held,
    senders: backlog.senders.map(senderAsJson),
    backlog: backlog.waiting.map(waitingAsJson),
  };
}

function senderAsJson({ lease, wakeAtMs, turnsUntilMs, lost = 0, service = {} }: SenderState, part: number) {
  return {
    part,
    owner: lease?.owner,
    until: lease && timeOf(lease.untilMs),
    next_wake: wakeAtMs === 0 ? undefined : timeOf(wakeAtMs),
    turns_until: turnsUntilMs === undefined ? undefined : timeOf(turnsUntilMs),
    leases_lost: lost,
    service,
  };
}

function waitingAsJson({ entry, left, dueMs, waitsFor, code, failures }: Waiting) {
  const { dispatchId, clientId, front = false } = entry;
  return {
    ...{ dispatch_id: dispatchId, client_id: clientId, recipients_left: left, front },
    ...{ due: timeOf(dueMs), waits_for: waitsFor, code, failures },
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
  }: { readonly limitPerSecond: number; readonly origin: string; readonly pace: KnownPace },
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
    ...(isSlowed ? [`          throttled at ${timeOf(learned.atMs)}; climbs for five minutes`] : []),
    ...(slowUntilMs > nowMs
      ? [`          its calls have had no answer for a while, as of ${timeOf(slowUntilMs)}`]
      : []),
  ];
}

const rounded = (perSecond: number) => String(Math.round(perSecond * 10) / 10);
