import { type Blocks, sumOf, takenIn, turnOf } from './turns.ts';

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
 * A stretch of slots, `everyMs` apart. Clients take turns of up to `turn` messages, in the order in which they first appear;
 * inside a client its lanes do (D45: by messages, not by jobs).
 */
export interface Segment {
  readonly fromMs: number;
  readonly everyMs: number;
  readonly turn: number;
  readonly lanes: readonly Lane[];
}

/**
 * Parts what is due before `atMs`, and stays where it is, from the rest of each lane, in the order of their next turns.
 * `fromMs` is where the rest goes on: up to a turn later, for a client that has begun its turn ends it, or those who part
 * again and again would give it to the same client each time. Only the last segment is ever cut: of the others nothing
 * waits any more.
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
  const takenOfClient = takenIn(places, counts, { turn }).map((taken, client) =>
    Math.min(counts[client] ?? 0, turn * Math.ceil(taken / turn)),
  );
  const taken = sumOf(takenOfClient);
  if (taken === sumOf(counts)) return { due: segments, fromMs: endOf(last), rest: [] };
  // Also brings back what a clock that was ahead has put too far into the future.
  if (taken === 0) return { due: before, fromMs: Math.max(atMs, endOf(before.at(-1))), rest: last.lanes };
  const parts = groups.map((lanes, client) => {
    const takenOfLane = takenIn(
      takenOfClient[client] ?? 0,
      lanes.map(({ count }) => count),
      blocksOf(lanes, turn),
    );
    return lanes.map((lane, index) => ({ lane, taken: takenOfLane[index] ?? 0 }));
  });
  const due = parts.flat().flatMap(({ lane, taken }) => (taken === 0 ? [] : [{ ...lane, count: taken }]));
  // The client with fewer messages is next; with as many, the order stays.
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

/** When the slot of a position comes; undefined when it is not in this segment. */
export function slotIn(segment: Segment, lane: LaneName, position: number): number | undefined {
  const place = placesIn(segment).get(nameOf(lane));
  const at = position - (place?.lane.first ?? 0);
  if (place === undefined || at < 0 || at >= place.lane.count) return undefined;
  const { index, client } = place;
  const ofClient = turnOf(at, index, client.counts, client.blocks);
  return segment.fromMs + turnOf(ofClient, client.index, client.ofAll, segment) * segment.everyMs;
}

/** The last turn of a client in a segment: when it begins, and its messages. Undefined when the client is not in it. */
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
  const place = turnOf(first, client, counts, { turn });
  return { fromMs: segment.fromMs + place * segment.everyMs, count: count - first };
}

/** Blocks of a lane begin at positions that are multiples of a turn: the rest of one that was parted is a turn of its own. */
function blocksOf(lanes: readonly Lane[], turn: number): Blocks {
  return { turn, heads: lanes.map(({ first }) => turn - (first % turn)) };
}

/** Where a lane stands in its segment: among the lanes of its client, and that one among the clients. */
interface Place {
  readonly lane: Lane;
  readonly index: number;
  readonly client: {
    readonly index: number;
    readonly counts: readonly number[];
    readonly blocks: Blocks;
    readonly ofAll: readonly number[];
  };
}

/** Kept beside a segment while it lives: a wave asks five hundred times, with a hundred lanes. */
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

/** As with spacings: short in the item, and never sooner. */
function microsecond(ms: number): number {
  return Math.ceil(ms * 1_000) / 1_000;
}
