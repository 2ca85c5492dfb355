import { type Lane, lastTurnIn, type Segment } from './segments.ts';

/*
 * Going in front means an earlier turn, not more turns, or many small dispatches would starve others. A client may do
 * so again once every waiting client could have had as much.
 */

/** A client gets no further early turn before `untilMs`. */
export interface EarlyTurn {
  readonly clientId: number;
  readonly untilMs: number;
}

const rememberedFronts = 100;

interface Parted {
  readonly due: readonly Segment[];
  readonly rest: readonly Lane[];
}

/**
 * Returns the entries that still count. A waiting client stays, so that it does not get its own turn and another one in
 * front.
 */
export function currentEarlyTurns(fronts: readonly EarlyTurn[], { due, rest }: Parted, nowMs: number): EarlyTurn[] {
  return fronts
    .map(({ clientId, untilMs }) => {
      const clients = clientsWith(clientId, rest);
      const ends = due.map((segment) => shareEndMs(lastTurnIn(segment, clientId), segment.everyMs, clients));
      return { clientId, untilMs: Math.max(untilMs, ...ends) };
    })
    .filter(({ clientId, untilMs }) => untilMs > nowMs || rest.some((lane) => lane.clientId === clientId));
}

export function mayGoFirst(fronts: readonly EarlyTurn[], clientId: number, fromMs: number): boolean {
  return !fronts.some((front) => front.clientId === clientId && front.untilMs > fromMs);
}

/** Adds a client that goes in front of `rest` with one turn. Keeps 100 entries, dropping the oldest. */
export function withEarlyTurn(
  fronts: readonly EarlyTurn[],
  clientId: number,
  {
    rest,
    everyMs,
    ...turn
  }: {
    readonly rest: readonly Lane[];
    readonly fromMs: number;
    readonly count: number;
    readonly everyMs: number;
  },
): EarlyTurn[] {
  const others = fronts.filter((front) => front.clientId !== clientId);
  const untilMs = shareEndMs(turn, everyMs, clientsWith(clientId, rest));
  return [...others, { clientId, untilMs }].slice(-rememberedFronts);
}

/** Returns the time by which each of `clients` could have had a turn of this length. */
function shareEndMs(
  turn: { readonly fromMs: number; readonly count: number } | undefined,
  everyMs: number,
  clients: number,
): number {
  return turn === undefined ? 0 : Math.ceil(turn.fromMs + turn.count * everyMs * clients);
}

function clientsWith(clientId: number, rest: readonly Lane[]): number {
  return new Set(rest.map((lane) => lane.clientId)).add(clientId).size;
}
