import { type Lane, lastTurnIn, type Segment } from './segments.ts';

/*
 * Going in front is having one's turn sooner, and no more turns than others: else a client with many small jobs would leave
 * nothing to those who wait. So a client that went in front may do so again when all who wait could have had as much.
 */

/** A client that went in front of others, and until when it may not again. */
export interface Front {
  readonly clientId: number;
  readonly untilMs: number;
}

const rememberedFronts = 100;

interface Parted {
  readonly due: readonly Segment[];
  readonly rest: readonly Lane[];
}

/**
 * What still counts of those who went in front, with the turns that they have had since. A client is remembered as long as
 * it waits, so that it does not get its turn and then another one in front.
 */
export function frontsNow(fronts: readonly Front[], { due, rest }: Parted, nowMs: number): Front[] {
  return fronts
    .map(({ clientId, untilMs }) => {
      const clients = clientsWith(clientId, rest);
      const ends = due.map((segment) => shareEndMs(lastTurnIn(segment, clientId), segment.everyMs, clients));
      return { clientId, untilMs: Math.max(untilMs, ...ends) };
    })
    .filter(({ clientId, untilMs }) => untilMs > nowMs || rest.some((lane) => lane.clientId === clientId));
}

/** Whether a client may go in front of others with slots from `fromMs` on. */
export function mayLead(fronts: readonly Front[], clientId: number, fromMs: number): boolean {
  return !fronts.some((front) => front.clientId === clientId && front.untilMs > fromMs);
}

/** With a client that goes in front of `rest` with a turn of so many messages: at most 100, the oldest entries leave first. */
export function withFront(
  fronts: readonly Front[],
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
): Front[] {
  const others = fronts.filter((front) => front.clientId !== clientId);
  const untilMs = shareEndMs(turn, everyMs, clientsWith(clientId, rest));
  return [...others, { clientId, untilMs }].slice(-rememberedFronts);
}

/** Until when each of so many clients could have a turn as long as this one. */
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
