import { sumOf, takenIn, turnOf } from './turns.ts';

/** Who asks for slots: a job of a client, or all its requests with few recipients together (`*`). */
export interface LaneName {
  readonly clientId: number;
  readonly lane: string;
}

/** A lane in one segment: the positions from `first` on. A position never comes twice in a lane, even if the lane pauses. */
export interface Lane extends LaneName {
  readonly first: number;
  readonly count: number;
}

/**
 * A stretch of slots, `everyMs` apart. Clients take turns, one message each, in the order in which they first appear;
 * inside a client its lanes do (D45: by messages, not by jobs).
 */
export interface Segment {
  readonly fromMs: number;
  readonly everyMs: number;
  readonly lanes: readonly Lane[];
}

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

/** The millisecond of a turn; undefined when the schedule has nothing (any more) for it: to be reserved anew. */
export function slotMsOf(schedule: Schedule, turn: Turn): number | undefined {
  for (const segment of schedule.segments.toReversed()) {
    const lane = segment.lanes.find(
      (each) => isLane(each, turn) && turn.position >= each.first && turn.position < each.first + each.count,
    );
    if (lane !== undefined) {
      return Math.floor(segment.fromMs + turnIn(segment, lane, turn.position - lane.first) * segment.everyMs);
    }
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

  const { due, fromMs, rest } = cutAt(segments, changeableFromMs(nowMs));
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
  const { due, fromMs, rest } = cutAt(schedule.segments, changeableFromMs(nowMs));
  const spacing = spacingOf(everyMs);
  if (rest.length === 0 || schedule.segments.at(-1)?.everyMs === spacing) return schedule;
  return { ...schedule, segments: [...due, { fromMs, everyMs: spacing, lanes: rest }] };
}

/** Gives back what is not due yet of a lane. The schedule itself when that is nothing. */
export function withoutLane(schedule: Schedule, lane: LaneName, nowMs: number): Schedule {
  const { due, fromMs, rest } = cutAt(schedule.segments, changeableFromMs(nowMs));
  const last = schedule.segments.at(-1);
  const lanes = rest.filter((each) => !isLane(each, lane));
  if (last === undefined || lanes.length === rest.length) return schedule;
  return {
    ...schedule,
    segments: lanes.length === 0 ? due : [...due, { fromMs, everyMs: last.everyMs, lanes }],
  };
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

/**
 * Parts what is due before `atMs`, and stays where it is, from the rest of each lane, in the order of their next turns.
 * `fromMs` is where the rest goes on. Only the last segment is ever cut: the others end before any writer may change them.
 */
function cutAt(
  segments: readonly Segment[],
  atMs: number,
): { readonly due: readonly Segment[]; readonly fromMs: number; readonly rest: readonly Lane[] } {
  const last = segments.at(-1);
  if (last === undefined) return { due: [], fromMs: 0, rest: [] };
  const before = segments.slice(0, -1);
  // Also brings back what a clock that was ahead has put too far into the future.
  if (last.fromMs >= atMs) return { due: before, fromMs: Math.max(atMs, endOf(before.at(-1))), rest: last.lanes };
  const turns = Math.ceil((atMs - last.fromMs) / last.everyMs);
  const groups = lanesByClient(last.lanes);
  const counts = groups.map(countOf);
  if (turns >= sumOf(counts)) return { due: segments, fromMs: endOf(last), rest: [] };
  const takenOfClient = takenIn(turns, counts);
  const parts = groups.map((lanes, client) => {
    const taken = takenIn(
      takenOfClient[client] ?? 0,
      lanes.map(({ count }) => count),
    );
    return lanes.map((lane, index) => ({ lane, taken: taken[index] ?? 0 }));
  });
  const due = parts.flat().flatMap(({ lane, taken }) => (taken === 0 ? [] : [{ ...lane, count: taken }]));
  // Whoever has had fewer turns is next; with as many, the order stays.
  const inOrder = parts
    .map((lanes, client) => ({ lanes, taken: takenOfClient[client] ?? 0 }))
    .toSorted((one, other) => one.taken - other.taken)
    .flatMap(({ lanes }) => lanes.toSorted((one, other) => one.taken - other.taken));
  const rest = inOrder.flatMap(({ lane, taken }) =>
    taken === lane.count ? [] : [{ ...lane, first: lane.first + taken, count: lane.count - taken }],
  );
  return {
    due: [...before, { ...last, lanes: due }],
    fromMs: microsecond(last.fromMs + turns * last.everyMs),
    rest,
  };
}

function turnIn({ lanes }: Segment, lane: Lane, position: number): number {
  const groups = lanesByClient(lanes);
  const client = groups.findIndex((group) => group.includes(lane));
  const own = groups[client] ?? [];
  const counts = own.map(({ count }) => count);
  return turnOf(turnOf(position, own.indexOf(lane), counts), client, groups.map(countOf));
}

function lanesByClient(lanes: readonly Lane[]): Lane[][] {
  return [...Map.groupBy(lanes, ({ clientId }) => clientId).values()];
}

function countOf(lanes: readonly Lane[]): number {
  return sumOf(lanes.map(({ count }) => count));
}

function endOf(segment: Segment | undefined): number {
  return segment === undefined ? 0 : segment.fromMs + countOf(segment.lanes) * segment.everyMs;
}

function isLane(lane: LaneName, other: LaneName): boolean {
  return lane.lane === other.lane && lane.clientId === other.clientId;
}

/** Times are kept short in the item, and rounded up: never closer than they may be. */
function microsecond(ms: number): number {
  return Math.ceil(ms * 1_000) / 1_000;
}

function spacingOf(everyMs: number): number {
  return Math.ceil(everyMs * 10_000) / 10_000;
}
