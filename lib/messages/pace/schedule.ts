import { currentEarlyTurns, type EarlyTurn, mayGoFirst, withEarlyTurn } from './early-turns.ts';
import { endOf, isLane, type Lane, type LaneName, partedAt, type Segment, slotIn } from './segments.ts';

/** A number's messages have slots in ascending segments (D43). `nextPosition` is above every position given out. */
export interface Schedule {
  readonly segments: readonly Segment[];
  readonly nextPosition: number;
  readonly fronts?: readonly EarlyTurn[];
}

/** Schedules change at multiples of `gridMs`, from 0.75 to 1 s ahead: readers and writers share this rule. */
const gridMs = 250;
const aheadMs = 1_000;

/** A turn is a chunk, so that a worker gets consecutive slots (D45). */
const longestTurn = 30;
/** No turn lasts longer: others wait for it, and a worker holds its messages as long. */
const longestTurnMs = 1_200;
/** A slice is never split. */
const shortestTurn = 10;

/** Returns messages per turn at a number's pace: thirty, twenty or ten. */
export function turnAt(everyMs: number): number {
  const fitting = shortestTurn * Math.floor(longestTurnMs / everyMs / shortestTurn);
  return Math.min(longestTurn, Math.max(shortestTurn, fitting));
}

/**
 * `inFront` goes before waiting lanes, if the client may (early-turns.ts). `late` means that slots passed unused, so
 * these precede everything that is not late.
 */
export interface SlotRequest extends LaneName {
  readonly count: number;
  readonly inFront?: true;
  readonly late?: true;
}

/** A message carries this in place of a time: the slot follows from the current schedule. */
export interface Turn extends LaneName {
  readonly position: number;
}

export const emptySchedule: Schedule = { segments: [], nextPosition: 0 };

/** Ended segments are kept this long: a message that is later needs a new slot anyway. */
const endedKeptMs = 1_000;
/** From this many segments on, single messages with pauses extend the last one, and its free slots are lost. */
const manySegments = 8;
/** The margin covers clock skew and the time that a write may take to arrive. */
const marginMs = 300;

/** A writer changes no slot before this time. */
export function changeableFromMs(nowMs: number): number {
  return Math.floor(nowMs / gridMs) * gridMs + aheadMs;
}

/**
 * A reader uses only slots before this time. `nowMs` is taken before the read: later writes do not touch those slots.
 */
export function trustedUntilMs(nowMs: number): number {
  return changeableFromMs(nowMs - marginMs);
}

/** Returns when a reader may use a slot. */
export function trustedFromMs(slotMs: number): number {
  return (Math.floor((slotMs - aheadMs) / gridMs) + 1) * gridMs + marginMs;
}

/** Returns the millisecond of a turn, or undefined when the schedule no longer has it: reserve again. */
export function slotMsOf(schedule: Schedule, turn: Turn): number | undefined {
  for (const segment of schedule.segments) {
    const slotMs = slotIn(segment, turn, turn.position);
    if (slotMs !== undefined) return Math.floor(slotMs);
  }
  return undefined;
}

/** Returns the time after the last slot given out, or 0 without one. */
export function endMsOf({ segments }: Schedule): number {
  return endOf(segments.at(-1));
}

/** Returns the share of a lane among lanes that wait now, between 0 and 1, or 1 if alone. */
export function shareOf(schedule: Schedule, lane: LaneName, nowMs: number): number {
  const last = schedule.segments.at(-1);
  const waiting = last === undefined || endOf(last) <= nowMs ? [] : last.lanes;
  const others = waiting.filter((each) => !isLane(each, lane));
  const clients = new Set(others.map(({ clientId }) => clientId)).add(lane.clientId);
  return 1 / (clients.size * (others.filter(({ clientId }) => clientId === lane.clientId).length + 1));
}

/**
 * Gives `count` positions to a lane: at once if nothing waits, else in turns from `changeableFromMs` on, at `everyMs`.
 * A waiting lane keeps its place; another one is last, or first if `inFront`.
 */
export function reserved(
  schedule: Schedule,
  wanted: SlotRequest & { readonly everyMs: number; readonly nowMs: number },
): { readonly schedule: Schedule; readonly firstPosition: number } {
  const { count, nowMs } = wanted;
  const everyMs = spacingOf(wanted.everyMs);
  const turn = turnAt(everyMs);
  const segments = schedule.segments.filter((segment) => endOf(segment) > nowMs - endedKeptMs);
  const longer = longerLast(segments, { ...wanted, everyMs });
  if (longer !== undefined) return withNext({ ...schedule, segments: longer.segments }, longer.firstPosition);

  const { due, fromMs, rest } = partedAt(segments, changeableFromMs(nowMs));
  const startMs = rest.length === 0 ? Math.max(nowMs, fromMs) : fromMs;
  const known = currentEarlyTurns(schedule.fronts ?? [], { due, rest }, nowMs);
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

/**
 * Adds a lane that was not waiting: before all, before its client's other lanes if the client has had its share, or
 * last.
 */
function joined(
  rest: readonly Lane[],
  {
    clientId,
    lane,
    count,
    inFront,
    late,
    ...at
  }: SlotRequest & {
    readonly firstPosition: number;
    readonly everyMs: number;
    readonly startMs: number;
    readonly fronts: readonly EarlyTurn[];
  },
): { readonly lanes: readonly Lane[]; readonly fronts: readonly EarlyTurn[] } {
  const row = { clientId, lane, first: at.firstPosition, count };
  const own = rest.filter((each) => each.clientId === clientId);
  const [firstOwn] = own;
  // A late lane missed its turn: it takes none from the others, nor from earlier late lanes.
  if (late === true) return { lanes: rest.toSpliced(placeOfLate(rest, clientId), 0, row), fronts: at.fronts };
  if (inFront === true && own.length < rest.length && mayGoFirst(at.fronts, clientId, at.startMs)) {
    const waiting = own.reduce((sum, each) => sum + each.count, count);
    const front = { rest, fromMs: at.startMs, count: Math.min(turnAt(at.everyMs), waiting), everyMs: at.everyMs };
    return { lanes: [row, ...rest], fronts: withEarlyTurn(at.fronts, clientId, front) };
  }
  if (inFront !== true || firstOwn === undefined) return { lanes: [...rest, row], fronts: at.fronts };
  return { lanes: rest.toSpliced(rest.indexOf(firstOwn), 0, row), fronts: at.fronts };
}

/** Changes the spacing of slots that are not due. Returns the same object for no change. */
export function atPace(schedule: Schedule, everyMs: number, nowMs: number): Schedule {
  const { due, fromMs, rest } = partedAt(schedule.segments, changeableFromMs(nowMs));
  const spacing = spacingOf(everyMs);
  if (rest.length === 0 || schedule.segments.at(-1)?.everyMs === spacing) return schedule;
  return { ...schedule, segments: [...due, { fromMs, everyMs: spacing, turn: turnAt(spacing), lanes: rest }] };
}

/** Extends the last segment if the lane has it alone: no slot moves. */
function longerLast(
  segments: readonly Segment[],
  wanted: SlotRequest & { readonly everyMs: number; readonly nowMs: number },
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
  // Nothing of the lane waits: a new segment keeps its blocks whole and loses no slot.
  if (endOf(last) <= changeableMs && newRowFrom(firstPosition, wanted.count, turn) !== firstPosition) return undefined;
  const longer = { ...last, lanes: [{ ...lane, count: lane.count + free + wanted.count }] };
  return { segments: [...segments.slice(0, -1), longer], firstPosition };
}

/** Returns where new positions begin: at a multiple of turns if the current block has no room for all. */
function newRowFrom(position: number, count: number, turn: number): number {
  return count <= turn - (position % turn) ? position : turn * Math.ceil(position / turn);
}

/** Returns the lane for missed slots: its positions never collide with those that the dispatch still reserves. */
export function lateLane(lane: string): string {
  return `${lane}~`;
}

/**
 * Places a late lane behind the client's late lanes if those lead its lanes, else behind the clients that a late lane
 * leads.
 */
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

/** Rounds up to be safe, and keeps it short in the item. */
function spacingOf(everyMs: number): number {
  return Math.ceil(everyMs * 10_000) / 10_000;
}
