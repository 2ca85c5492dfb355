import { FaultList } from '../../http/fault-list.ts';
import { jsonExcerpt } from '../../http/json-excerpt.ts';
import { invalid, Refusal } from '../../http/refusal.ts';
import type { Recipient } from '../dispatch/head.ts';
import { type Lot, lastCallBeforeEndMs, type Opening } from '../dispatch/lots.ts';
import { inAll, openingsIn, within } from './openings.ts';
import type { SendTime } from './send-time.ts';
import { zonesOf } from './zones-of.ts';

const dayMs = 86_400_000;
/** The tolerance covers clock skew and the request's duration: a time this far in the past is now. */
const skewMs = 5 * 60_000;
const mostAheadMs = 30 * dayMs;
/** Without a time to live, messages may be called this long after the first moment. */
const calledForMs = 28 * dayMs;
/** Hours that two clock changes skip have returned by then. */
const firstOpeningWithinMs = 28 * dayMs;
const longestLifeMs = 31 * dayMs;

export interface ZoneTimes {
  /** The list is empty without hours and days: zones do not matter then. */
  readonly zones: readonly string[];
  readonly members: readonly number[];
  /** The list is empty if no opening lies in the dispatch's life. */
  readonly open: readonly Opening[];
  /** Their first opening would be then if the dispatch lived long enough. */
  readonly firstMs: number;
}

export interface Timetable {
  /** No recipient is called earlier. */
  readonly fromMs: number;
  /** No call begins at or after this time. */
  readonly lastCallMs: number;
  /** Lots are sorted by first opening; those that never open come last. */
  readonly lots: readonly Lot[];
  /** Recipients are sorted by lots: the old index stands at each new index. */
  readonly order: readonly number[];
  readonly zones: readonly ZoneTimes[];
}

export interface ToBeTimed {
  readonly recipients: readonly Pick<Recipient, 'to'>[];
  /** By index, they are places in the request. */
  readonly places: readonly number[];
  readonly ttlSeconds?: number | undefined;
  /** Numbers whose zone is unknown have the client's zone. */
  readonly clientZone?: string | undefined;
  readonly nowMs: number;
}

/** Tells whether some recipient's zone is needed and unknown. */
export function needsClientZone(recipients: ToBeTimed['recipients'], time: SendTime): boolean {
  return goesByZones(time) && time.zone === undefined && recipients.some(({ to }) => zonesOf(to) === undefined);
}

function goesByZones({ window, days }: SendTime): boolean {
  return window !== undefined || days !== undefined;
}

/**
 * Returns call times: from `Send-At` on, within the hours of all zones the person may be in. Refuses with 400 a past
 * `Send-At`, or one over 30 days ahead, and recipients without known zones or common hours.
 */
export function timetableOf(toBeTimed: ToBeTimed, time: SendTime): Timetable {
  const earliestMs = earliestOf(time, toBeTimed.nowMs);
  const groups = openGroups(toBeTimed, time, earliestMs);
  const fromMs = Math.min(...groups.map(({ firstMs }) => firstMs));
  const { ttlSeconds } = toBeTimed;
  const lastCallMs = fromMs + (ttlSeconds === undefined ? calledForMs : ttlSeconds * 1_000);
  const zones = groups.map((group) => ({ ...group, open: usable(within(group.open, [fromMs, lastCallMs])) }));
  return { fromMs, lastCallMs, zones, ...lotsOf(zones) };
}

function earliestOf({ asked, sendAtMs }: SendTime, nowMs: number): number {
  if (sendAtMs === undefined) return nowMs;
  if (sendAtMs >= nowMs - skewMs && sendAtMs <= nowMs + mostAheadMs) return Math.max(sendAtMs, nowMs);
  const why = sendAtMs < nowMs ? 'which has passed' : 'which is later';
  const now = new Date(nowMs).toISOString();
  throw invalid(
    'Send-At',
    `Send-At must be from now (${now}) to 30 days ahead, received ${jsonExcerpt(asked.send_at)}, ${why}`,
  );
}

function openGroups(toBeTimed: ToBeTimed, time: SendTime, earliestMs: number): ZoneTimes[] {
  const span: Opening = [earliestMs, earliestMs + firstOpeningWithinMs + longestLifeMs];
  const opened = new Map<string, readonly Opening[]>();
  const openingsOf = (zone: string) => {
    const known = opened.get(zone) ?? openingsIn(zone, time, span);
    opened.set(zone, known);
    return known;
  };
  const faults = new FaultList();
  const groups = groupsOf(toBeTimed, time, faults).map(({ zones, members }) => {
    const open = usable(goesByZones(time) ? inAll(zones.map(openingsOf)) : [span]);
    const firstMs = open[0]?.[0] ?? Number.POSITIVE_INFINITY;
    if (firstMs >= earliestMs + firstOpeningWithinMs) {
      for (const index of members) faults.add(neverOpen(placeOf(toBeTimed, index), zones, time));
    }
    return { zones, members, open, firstMs };
  });
  if (faults.count > 0) throw new Refusal('invalid_recipients', faults.message, { errors: faults.listed() });
  return groups;
}

/** No call begins in the last seconds of an opening, so an opening that is not longer is none. */
function usable(open: readonly Opening[]): Opening[] {
  return open.filter(([fromMs, untilMs]) => untilMs - fromMs > lastCallBeforeEndMs);
}

type Group = Pick<ZoneTimes, 'zones' | 'members'>;

function groupsOf(toBeTimed: ToBeTimed, time: SendTime, faults: FaultList): Group[] {
  const groups = new Map<string, { readonly zones: readonly string[]; readonly members: number[] }>();
  for (const [index, { to }] of toBeTimed.recipients.entries()) {
    const zones = zonesFor(to, time, toBeTimed.clientZone);
    if (zones === undefined) {
      faults.add(unknownZone(placeOf(toBeTimed, index), to));
      continue;
    }
    const key = zones.join(' ');
    const group = groups.get(key) ?? { zones, members: [] };
    group.members.push(index);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function zonesFor(to: string, time: SendTime, clientZone: string | undefined): readonly string[] | undefined {
  if (!goesByZones(time)) return [];
  if (time.zone !== undefined) return [time.zone];
  return zonesOf(to) ?? (clientZone === undefined ? undefined : [clientZone]);
}

function placeOf({ places }: ToBeTimed, index: number): number {
  return places[index] ?? index;
}

function unknownZone(place: number, to: string) {
  const path = `recipients[${place}].to`;
  const message = `${path}: expected a recipient whose time zone is known, or Send-Zone, received ${jsonExcerpt(to)}`;
  return { path, message };
}

function neverOpen(place: number, zones: readonly string[], { asked }: SendTime) {
  const path = `recipients[${place}].to`;
  const hours = [asked.window, asked.days].filter((text) => text !== undefined).join(' ');
  const [first, ...others] = zones;
  const more = `${others.length} more zone${others.length === 1 ? '' : 's'} of the recipient at once`;
  const where = others.length === 0 ? first : `${first} and ${more}`;
  const message = `${path}: expected other hours (Send-Window, Send-Days) or Send-Zone: ${hours} never comes in ${where}`;
  return { path, message };
}

/** Recipients with the same call times form one lot, whatever their zones; their order stays. */
function lotsOf(zones: readonly ZoneTimes[]): Pick<Timetable, 'lots' | 'order'> {
  const byTimes = new Map<string, { readonly open: readonly Opening[]; readonly members: number[] }>();
  for (const { open, members } of zones) {
    const times = JSON.stringify(open);
    const lot = byTimes.get(times) ?? { open, members: [] };
    lot.members.push(...members);
    byTimes.set(times, lot);
  }
  const firstOf = (open: readonly Opening[]) => open[0]?.[0] ?? Number.MAX_SAFE_INTEGER;
  const ordered = [...byTimes.values()]
    .map(({ open, members }) => ({ open, members: members.sort((one, other) => one - other) }))
    .sort((one, other) => firstOf(one.open) - firstOf(other.open) || (one.members[0] ?? 0) - (other.members[0] ?? 0));
  let until = 0;
  const lots = ordered.map(({ open, members }): Lot => {
    until += members.length;
    return { until, open };
  });
  return { lots, order: ordered.flatMap(({ members }) => members) };
}
