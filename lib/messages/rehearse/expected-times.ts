import type { Lot, Opening } from '../dispatch/lots.ts';
import type { Timetable } from '../when/timetable.ts';

/** Recipients of some zones would leave then, if the send were accepted now. */
export interface ExpectedTimes {
  /** The list is empty if zones do not matter, because only a moment was asked for. */
  readonly zones: readonly string[];
  readonly recipients: number;
  /** The time is undefined if no call falls within the dispatch's life. */
  readonly firstMs: number | undefined;
  /** The last of them leaves about then. */
  readonly lastMs: number | undefined;
}

/**
 * Returns when each lot of a scheduled send would leave, by zones (D56). Lots follow each other while open. The number
 * is busy for `delayMs`. An unfinished lot ends with its openings.
 */
export function expectedTimes(
  { lots, zones, order }: Timetable,
  { nowMs, delayMs, everyMs }: { readonly nowMs: number; readonly delayMs: number; readonly everyMs: number },
): ExpectedTimes[] {
  const lastOfLot = lastMoments(lots, { busy: [[nowMs, nowMs + delayMs]], everyMs });
  const lotOfMember = new Map<number, number>();
  for (const [index, before] of order.entries())
    lotOfMember.set(
      before,
      lots.findIndex(({ until }) => index < until),
    );
  return zones
    .map((each) => ({
      zones: each.zones,
      recipients: each.members.length,
      firstMs: each.open[0]?.[0],
      lastMs: lastOfLot[lotOfMember.get(each.members[0] ?? 0) ?? 0],
    }))
    .sort((one, other) => (one.firstMs ?? Number.MAX_SAFE_INTEGER) - (other.firstMs ?? Number.MAX_SAFE_INTEGER));
}

/** Returns when the last message of each lot leaves, or undefined for a lot that never opens. */
function lastMoments(
  lots: readonly Lot[],
  { busy, everyMs }: { readonly busy: readonly Opening[]; readonly everyMs: number },
): (number | undefined)[] {
  let taken = [...busy];
  let first = 0;
  return lots.map(({ open, until }) => {
    const count = until - first;
    first = until;
    let leftMs = count * everyMs;
    for (const [fromMs, untilMs] of without(open, taken)) {
      const usedMs = Math.min(leftMs, untilMs - fromMs);
      taken = inOrder([...taken, [fromMs, fromMs + usedMs]]);
      leftMs -= usedMs;
      // The last message leaves at the start of its turn.
      if (leftMs <= 0) return fromMs + Math.max(0, usedMs - everyMs);
    }
    return open.at(-1)?.[1];
  });
}

/** Returns the free part of openings; `taken` is sorted. */
function without(open: readonly Opening[], taken: readonly Opening[]): Opening[] {
  return open.flatMap((opening) => {
    const free: Opening[] = [];
    let [fromMs] = opening;
    for (const [takenFromMs, takenUntilMs] of taken) {
      if (takenUntilMs <= fromMs || takenFromMs >= opening[1]) continue;
      if (takenFromMs > fromMs) free.push([fromMs, takenFromMs]);
      fromMs = Math.max(fromMs, takenUntilMs);
    }
    return fromMs < opening[1] ? [...free, [fromMs, opening[1]] as const] : free;
  });
}

function inOrder(taken: readonly Opening[]): Opening[] {
  return taken.toSorted(([one], [other]) => one - other);
}
