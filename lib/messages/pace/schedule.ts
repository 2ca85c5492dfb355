import { endOf, isLane, type LaneName, partedAt, type Segment, slotIn } from './segments.ts';

/** Which message has which slot of a number (D43): ascending segments, and a position above every one given out. */
export interface Schedule {
  readonly segments: readonly Segment[];
  readonly nextPosition: number;
}

/** What a message carries instead of a time: the slot follows from the schedule as it is when it is asked for. */
export interface Turn extends LaneName {
  readonly position: number;
}

export const emptySchedule: Schedule = { segments: [], nextPosition: 0 };

/** A segment that has ended is kept so long: a message that is later than that needs a slot anyway. */
const endedKeptMs = 1_000;
/** From so many segments on, single messages with pauses between them go on in the last one, and its free slots are lost. */
const manySegments = 8;
/** By how much clocks may be apart, and how long a write may take to arrive, together. */
const marginMs = 300;

/** A writer changes no slot before this. */
export function changeableFromMs(nowMs: number): number {
  return (Math.floor(nowMs / 1_000) + 2) * 1_000;
}

/** A reader acts on slots before this only. `nowMs` is taken before the schedule is read: what is written later leaves them. */
export function trustedUntilMs(nowMs: number): number {
  return (Math.floor((nowMs - marginMs) / 1_000) + 2) * 1_000;
}

/** From when on a reader may act on a slot. */
export function trustedFromMs(slotMs: number): number {
  return (Math.floor(slotMs / 1_000) - 1) * 1_000 + marginMs;
}

/** The millisecond of a turn; undefined when the schedule has nothing (any more) for it: to be reserved anew. */
export function slotMsOf(schedule: Schedule, turn: Turn): number | undefined {
  for (const segment of schedule.segments) {
    const slotMs = slotIn(segment, turn, turn.position);
    if (slotMs !== undefined) return Math.floor(slotMs);
  }
  return undefined;
}

/** When the first slot after all that are given out may come; 0 when none is. */
export function endMsOf({ segments }: Schedule): number {
  return endOf(segments.at(-1));
}

/** The part of a number's slots that a lane has beside those which wait now, between 0 and 1; 1 when it is alone. */
export function shareOf(schedule: Schedule, lane: LaneName, nowMs: number): number {
  const last = schedule.segments.at(-1);
  const waiting = last === undefined || endOf(last) <= nowMs ? [] : last.lanes;
  const others = waiting.filter((each) => !isLane(each, lane));
  const clients = new Set(others.map(({ clientId }) => clientId)).add(lane.clientId);
  return 1 / (clients.size * (others.filter(({ clientId }) => clientId === lane.clientId).length + 1));
}

/**
 * Gives `count` positions to a lane, from `firstPosition` on. Where nothing waits they come at once, behind what is given
 * out; else they take turns with what is not due yet, from `changeableFromMs` on. `everyMs` holds for all from there on.
 */
export function reserved(
  schedule: Schedule,
  wanted: LaneName & { readonly count: number; readonly everyMs: number; readonly nowMs: number },
): { readonly schedule: Schedule; readonly firstPosition: number } {
  const { clientId, lane, count, nowMs } = wanted;
  const everyMs = spacingOf(wanted.everyMs);
  const segments = schedule.segments.filter((segment) => endOf(segment) > nowMs - endedKeptMs);
  const longer = longerLast(segments, { ...wanted, everyMs });
  if (longer !== undefined) return withNext(longer.segments, longer.firstPosition);

  const { due, fromMs, rest } = partedAt(segments, changeableFromMs(nowMs));
  const present = rest.find((each) => isLane(each, wanted));
  const firstPosition = present === undefined ? schedule.nextPosition : present.first + present.count;
  const lanes =
    present === undefined
      ? [...rest, { clientId, lane, first: firstPosition, count }]
      : rest.map((each) => (each === present ? { ...each, count: each.count + count } : each));
  const startMs = rest.length === 0 ? Math.max(nowMs, fromMs) : fromMs;
  return withNext([...due, { fromMs: startMs, everyMs, lanes }], firstPosition);

  function withNext(all: readonly Segment[], first: number) {
    const nextPosition = Math.max(schedule.nextPosition, first + count);
    return { schedule: { segments: all, nextPosition }, firstPosition: first };
  }
}

/** Another spacing for what is not due yet. The schedule itself when that changes nothing. */
export function atPace(schedule: Schedule, everyMs: number, nowMs: number): Schedule {
  const { due, fromMs, rest } = partedAt(schedule.segments, changeableFromMs(nowMs));
  const spacing = spacingOf(everyMs);
  if (rest.length === 0 || schedule.segments.at(-1)?.everyMs === spacing) return schedule;
  return { ...schedule, segments: [...due, { fromMs, everyMs: spacing, lanes: rest }] };
}

/** A lane that has the last segment to itself makes it longer: no slot moves. */
function longerLast(
  segments: readonly Segment[],
  wanted: LaneName & { readonly count: number; readonly everyMs: number; readonly nowMs: number },
): { readonly segments: readonly Segment[]; readonly firstPosition: number } | undefined {
  const last = segments.at(-1);
  const [lane, ...others] = last?.lanes ?? [];
  if (last === undefined || lane === undefined || others.length > 0) return undefined;
  if (!isLane(lane, wanted) || last.everyMs !== wanted.everyMs) return undefined;
  if (last.fromMs >= changeableFromMs(wanted.nowMs)) return undefined;
  const free = Math.max(0, Math.ceil((wanted.nowMs - endOf(last)) / last.everyMs));
  if (free > 0 && segments.length < manySegments) return undefined;
  const firstPosition = lane.first + lane.count + free;
  const longer = { ...last, lanes: [{ ...lane, count: lane.count + free + wanted.count }] };
  return { segments: [...segments.slice(0, -1), longer], firstPosition };
}

/** Kept short in the item, and rounded up: never closer than it may be. */
function spacingOf(everyMs: number): number {
  return Math.ceil(everyMs * 10_000) / 10_000;
}
