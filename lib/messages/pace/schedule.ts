import { type Front, frontsNow, mayLead, withFront } from './fronts.ts';
import { endOf, isLane, type Lane, type LaneName, partedAt, type Segment, slotIn } from './segments.ts';

/** Which message has which slot of a number (D43): ascending segments, and a position above every one given out. */
export interface Schedule {
  readonly segments: readonly Segment[];
  readonly nextPosition: number;
  /** Clients that went in front lately; absent when there is none. */
  readonly fronts?: readonly Front[];
}

/** Schedules change at whole `gridMs`, from 0.75 to 1 s ahead on: the same for all who read and write one. */
const gridMs = 250;
const aheadMs = 1_000;

/** Messages of a turn, so that a worker gets consecutive slots (D45): a chunk is one. */
const longestTurn = 30;
/** The longest turn of a number by time: the others wait for it, and a worker holds its messages as long. */
const longestTurnMs = 1_200;
/** A slice is never parted. */
const shortestTurn = 10;

/** Messages of a turn, as the pace of a number allows: thirty, or twenty, or ten. */
export function turnAt(everyMs: number): number {
  const fitting = shortestTurn * Math.floor(longestTurnMs / everyMs / shortestTurn);
  return Math.min(longestTurn, Math.max(shortestTurn, fitting));
}

/**
 * Positions that are wanted in a lane; `inFront`: before those who wait, where its client may (fronts.ts); `late`: their slots
 * went by unused, and they come before all that is not late.
 */
export interface Wanted extends LaneName {
  readonly count: number;
  readonly inFront?: true;
  readonly late?: true;
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
  return Math.floor(nowMs / gridMs) * gridMs + aheadMs;
}

/** A reader acts on slots before this only. `nowMs` is taken before the schedule is read: what is written later leaves them. */
export function trustedUntilMs(nowMs: number): number {
  return changeableFromMs(nowMs - marginMs);
}

/** From when on a reader may act on a slot. */
export function trustedFromMs(slotMs: number): number {
  return (Math.floor((slotMs - aheadMs) / gridMs) + 1) * gridMs + marginMs;
}

/** The millisecond of a turn; undefined when the schedule has nothing (any more) for it: to be reserved again. */
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
 * out; else they take turns with what is not due yet, from `changeableFromMs` on. `everyMs`, and the turns that follow from
 * it (`turnAt`), hold for all from there on. A lane that still waits goes on where it is; another one is the last, or the first if it is to be `inFront`.
 */
export function reserved(
  schedule: Schedule,
  wanted: Wanted & { readonly everyMs: number; readonly nowMs: number },
): { readonly schedule: Schedule; readonly firstPosition: number } {
  const { count, nowMs } = wanted;
  const everyMs = spacingOf(wanted.everyMs);
  const turn = turnAt(everyMs);
  const segments = schedule.segments.filter((segment) => endOf(segment) > nowMs - endedKeptMs);
  const longer = longerLast(segments, { ...wanted, everyMs });
  if (longer !== undefined) return withNext({ ...schedule, segments: longer.segments }, longer.firstPosition);

  const { due, fromMs, rest } = partedAt(segments, changeableFromMs(nowMs));
  const startMs = rest.length === 0 ? Math.max(nowMs, fromMs) : fromMs;
  const known = frontsNow(schedule.fronts ?? [], { due, rest }, nowMs);
  const present = rest.find((each) => isLane(each, wanted));
  const firstPosition =
    present === undefined ? newRowFrom(schedule.nextPosition, count, turn) : present.first + present.count;
  const { lanes, fronts } =
    present === undefined
      ? joined(rest, { ...wanted, firstPosition, everyMs, startMs, fronts: known })
      : {
          lanes: rest.map((each) => (each === present ? { ...each, count: each.count + count } : each)),
          fronts: known,
        };
  const segment = { fromMs: startMs, everyMs, turn, lanes };
  return withNext({ segments: [...due, segment], ...(fronts.length === 0 ? {} : { fronts }) }, firstPosition);

  function withNext(changed: Omit<Schedule, 'nextPosition'>, first: number) {
    const nextPosition = Math.max(schedule.nextPosition, first + count);
    return { schedule: { ...changed, nextPosition }, firstPosition: first };
  }
}

/** With a lane that was not waiting: the first of all, the first of its client while that has had its share, or the last. */
function joined(
  rest: readonly Lane[],
  {
    clientId,
    lane,
    count,
    inFront,
    late,
    ...at
  }: Wanted & {
    readonly firstPosition: number;
    readonly everyMs: number;
    readonly startMs: number;
    readonly fronts: readonly Front[];
  },
): { readonly lanes: readonly Lane[]; readonly fronts: readonly Front[] } {
  const row = { clientId, lane, first: at.firstPosition, count };
  const own = rest.filter((each) => each.clientId === clientId);
  const [firstOwn] = own;
  // Whose slots went by has had no turn for them: it takes none from the others, and none from those who were late before.
  if (late === true) return { lanes: rest.toSpliced(placeOfLate(rest, clientId), 0, row), fronts: at.fronts };
  if (inFront === true && own.length < rest.length && mayLead(at.fronts, clientId, at.startMs)) {
    const waiting = own.reduce((sum, each) => sum + each.count, count);
    const front = { rest, fromMs: at.startMs, count: Math.min(turnAt(at.everyMs), waiting), everyMs: at.everyMs };
    return { lanes: [row, ...rest], fronts: withFront(at.fronts, clientId, front) };
  }
  if (inFront !== true || firstOwn === undefined) return { lanes: [...rest, row], fronts: at.fronts };
  return { lanes: rest.toSpliced(rest.indexOf(firstOwn), 0, row), fronts: at.fronts };
}

/** Another spacing for what is not due yet. The schedule itself when that changes nothing. */
export function atPace(schedule: Schedule, everyMs: number, nowMs: number): Schedule {
  const { due, fromMs, rest } = partedAt(schedule.segments, changeableFromMs(nowMs));
  const spacing = spacingOf(everyMs);
  if (rest.length === 0 || schedule.segments.at(-1)?.everyMs === spacing) return schedule;
  return { ...schedule, segments: [...due, { fromMs, everyMs: spacing, turn: turnAt(spacing), lanes: rest }] };
}

/** A lane that has the last segment to itself makes it longer: no slot moves. */
function longerLast(
  segments: readonly Segment[],
  wanted: Wanted & { readonly everyMs: number; readonly nowMs: number },
): { readonly segments: readonly Segment[]; readonly firstPosition: number } | undefined {
  const turn = turnAt(wanted.everyMs);
  const last = segments.at(-1);
  const [lane, ...others] = last?.lanes ?? [];
  if (last === undefined || lane === undefined || others.length > 0) return undefined;
  if (!isLane(lane, wanted) || last.everyMs !== wanted.everyMs || last.turn !== turn) return undefined;
  const changeableMs = changeableFromMs(wanted.nowMs);
  if (last.fromMs >= changeableMs) return undefined;
  const free = Math.max(0, Math.ceil((wanted.nowMs - endOf(last)) / last.everyMs));
  if (free > 0 && segments.length < manySegments) return undefined;
  const firstPosition = lane.first + lane.count + free;
  // Nothing of it waits: in a segment of its own its blocks are whole, and no slot is lost.
  if (endOf(last) <= changeableMs && newRowFrom(firstPosition, wanted.count, turn) !== firstPosition) return undefined;
  const longer = { ...last, lanes: [{ ...lane, count: lane.count + free + wanted.count }] };
  return { segments: [...segments.slice(0, -1), longer], firstPosition };
}

/** Where new positions of a lane begin: at a multiple of turns, if the block before it has no room for all of them. */
function newRowFrom(position: number, count: number, turn: number): number {
  return count <= turn - (position % turn) ? position : turn * Math.ceil(position / turn);
}

/** The lane of what has missed its slots: its positions never meet those that its job still reserves. */
export function lateLane(lane: string): string {
  return `${lane}~`;
}

/** Behind the late lanes of its client, where they come first; else behind the clients that are led by a late lane. */
function placeOfLate(lanes: readonly LaneName[], clientId: number): number {
  const isLate = ({ lane }: LaneName) => lane.endsWith('~');
  const own = lanes.filter((each) => each.clientId === clientId);
  const [firstOwn] = own;
  if (firstOwn !== undefined && isLate(firstOwn)) {
    const next = own.find((each) => !isLate(each));
    return next === undefined ? lanes.lastIndexOf(own.at(-1) ?? firstOwn) + 1 : lanes.indexOf(next);
  }
  const seen = new Set<number>();
  for (const [at, each] of lanes.entries()) {
    if (!seen.has(each.clientId) && !isLate(each)) return at;
    seen.add(each.clientId);
  }
  return lanes.length;
}

/** Kept short in the item, and rounded up: never closer than it may be. */
function spacingOf(everyMs: number): number {
  return Math.ceil(everyMs * 10_000) / 10_000;
}
