import { countsWithin, placeInTurns, sumOf, type TurnLengths } from './round-robin.ts';

/** Slots go to a dispatch of a client, or to all its small requests together (`*`). */
export interface LaneName {
  readonly clientId: number;
  readonly lane: string;
}

/**
 * A lane has these positions in one segment, from `first` on. A position never repeats in a lane, even after a pause.
 */
export interface Lane extends LaneName {
  readonly first: number;
  readonly count: number;
}

/**
 * Slots are `everyMs` apart. Clients take turns of up to `turn` messages, in order of appearance; within a client its
 * lanes do (D45: by messages, not by dispatches).
 */
export interface Segment {
  readonly fromMs: number;
  readonly everyMs: number;
  readonly turn: number;
  readonly lanes: readonly Lane[];
}

/**
 * Splits slots due before `atMs`, which stay, from the rest of each lane, ordered by next turn. Only the last segment
 * can have a rest.
 */
export function partedAt(
  segments: readonly Segment[],
  atMs: number,
): { readonly due: readonly Segment[]; readonly fromMs: number; readonly rest: readonly Lane[] } {
  const last = segments.at(-1);
  if (last === undefined) return { due: [], fromMs: 0, rest: [] };
  const before = segments.slice(0, -1);
  const places = Math.max(0, Math.ceil((atMs - last.fromMs) / last.everyMs));
  const { turn } = last;
  const groups = lanesByClient(last.lanes);
  const counts = groups.map(countOf);
  // A begun turn is finished, or frequent splits would give every turn to the same client: `fromMs` may be up to a turn
  // later.
  const takenOfClient = countsWithin(places, counts, { turn }).map((taken, client) =>
    Math.min(counts[client] ?? 0, turn * Math.ceil(taken / turn)),
  );
  const taken = sumOf(takenOfClient);
  if (taken === sumOf(counts)) return { due: segments, fromMs: endOf(last), rest: [] };
  // Also brings back slots that a fast clock has put too far ahead.
  if (taken === 0) return { due: before, fromMs: Math.max(atMs, endOf(before.at(-1))), rest: last.lanes };
  const parts = groups.map((lanes, client) => {
    const takenOfLane = countsWithin(
      takenOfClient[client] ?? 0,
      lanes.map(({ count }) => count),
      blocksOf(lanes, turn),
    );
    return lanes.map((lane, index) => ({ lane, taken: takenOfLane[index] ?? 0 }));
  });
  const due = parts.flat().flatMap(({ lane, taken }) => (taken === 0 ? [] : [{ ...lane, count: taken }]));
  // The client with fewer messages is next; ties keep their order.
  const inOrder = parts
    .map((lanes, client) => ({ lanes, taken: takenOfClient[client] ?? 0 }))
    .toSorted((one, other) => one.taken - other.taken)
    .flatMap(({ lanes }) => lanes.toSorted((one, other) => one.taken - other.taken));
  const rest = inOrder.flatMap(({ lane, taken }) =>
    taken === lane.count ? [] : [{ ...lane, first: lane.first + taken, count: lane.count - taken }],
  );
  return {
    due: [...before, { ...last, lanes: due }],
    fromMs: microsecond(last.fromMs + taken * last.everyMs),
    rest,
  };
}

/** Returns the time of a position's slot, or undefined if it is not in this segment. */
export function slotIn(segment: Segment, lane: LaneName, position: number): number | undefined {
  const place = placesIn(segment).get(nameOf(lane));
  const at = position - (place?.lane.first ?? 0);
  if (place === undefined || at < 0 || at >= place.lane.count) return undefined;
  const { index, client } = place;
  const ofClient = placeInTurns(at, index, client.counts, client.blocks);
  return segment.fromMs + placeInTurns(ofClient, client.index, client.ofAll, segment) * segment.everyMs;
}

/** Returns a client's last turn in a segment: its start and size. Returns undefined without the client. */
export function lastTurnIn(
  segment: Segment,
  clientId: number,
): { readonly fromMs: number; readonly count: number } | undefined {
  const groups = lanesByClient(segment.lanes);
  const client = groups.findIndex(([lane]) => lane?.clientId === clientId);
  const counts = groups.map(countOf);
  const count = counts[client];
  if (count === undefined) return undefined;
  const { turn } = segment;
  const first = turn * Math.floor((count - 1) / turn);
  const place = placeInTurns(first, client, counts, { turn });
  return { fromMs: segment.fromMs + place * segment.everyMs, count: count - first };
}

/** A lane's blocks begin at multiples of a turn: the rest of a split block is a turn of its own. */
function blocksOf(lanes: readonly Lane[], turn: number): TurnLengths {
  return { turn, heads: lanes.map(({ first }) => turn - (first % turn)) };
}

interface Place {
  readonly lane: Lane;
  readonly index: number;
  readonly client: {
    readonly index: number;
    readonly counts: readonly number[];
    readonly blocks: TurnLengths;
    readonly ofAll: readonly number[];
  };
}

/** Places are cached per segment: a wave looks up five hundred positions, with a hundred lanes. */
const places = new WeakMap<Segment, ReadonlyMap<string, Place>>();

function placesIn(segment: Segment): ReadonlyMap<string, Place> {
  const known = places.get(segment);
  if (known !== undefined) return known;
  const groups = lanesByClient(segment.lanes);
  const ofAll = groups.map(countOf);
  const all = groups.flatMap((lanes, at) => {
    const blocks = blocksOf(lanes, segment.turn);
    const client = { index: at, counts: lanes.map(({ count }) => count), blocks, ofAll };
    return lanes.map((lane, index): [string, Place] => [nameOf(lane), { lane, index, client }]);
  });
  const found = new Map(all);
  places.set(segment, found);
  return found;
}

function nameOf({ clientId, lane }: LaneName): string {
  return `${clientId}#${lane}`;
}

function lanesByClient(lanes: readonly Lane[]): Lane[][] {
  return [...Map.groupBy(lanes, ({ clientId }) => clientId).values()];
}

function countOf(lanes: readonly Lane[]): number {
  return sumOf(lanes.map(({ count }) => count));
}

export function endOf(segment: Segment | undefined): number {
  return segment === undefined ? 0 : microsecond(segment.fromMs + countOf(segment.lanes) * segment.everyMs);
}

export function isLane(lane: LaneName, other: LaneName): boolean {
  return lane.lane === other.lane && lane.clientId === other.clientId;
}

/** Keeps it short in the item, and never sooner, as for spacings. */
function microsecond(ms: number): number {
  return Math.ceil(ms * 1_000) / 1_000;
}
