import type { BacklogEntry } from '../dispatch/backlog.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';

/** So many dispatches are in memory: each may have a thousand slices, and five hundred recipients of a page. */
export const mostInHand = 500;

export interface Hands {
  readonly all: readonly DispatchInHand[];
  /** Nothing is under way for these. */
  readonly idle: readonly DispatchInHand[];
}

/**
 * Returns the dispatch that makes room for one that is due: one that waits, or one of the client that has most, for a
 * client that has none in hand and for an entry in front.
 */
export function givenUpFor(
  { clientId, front }: Pick<BacklogEntry, 'clientId' | 'front'>,
  { all, idle }: Hands,
  waits: (hand: DispatchInHand) => boolean,
): DispatchInHand | undefined {
  const waiting = idle.find(waits);
  if (waiting !== undefined) return waiting;
  const counts = new Map<number, number>();
  for (const { facts } of all) counts.set(facts.clientId, (counts.get(facts.clientId) ?? 0) + 1);
  if (counts.has(clientId) && front === undefined) return undefined;
  const most = Math.max(...counts.values());
  if (most === 1) return undefined;
  return idle.find(({ facts, entry }) => counts.get(facts.clientId) === most && entry.front === undefined);
}
