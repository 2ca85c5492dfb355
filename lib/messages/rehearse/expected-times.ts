import type { Lot, Opening } from '../lots.ts';
import type { Timetable } from '../when/timetable.ts';

/** When the recipients of some zones would leave, if the send were accepted now. */
export interface ExpectedTimes {
  /** Empty where they do not matter: a moment alone was asked for. */
  readonly zones: readonly string[];
  readonly recipients: number;
  /** The first moment at which they may be called; undefined where that is never within the life of the job. */
  readonly firstMs: number | undefined;
  /** About when the last of them has left. */
  readonly lastMs: number | undefined;
}

/**
 * When each lot of a send with a time of its own would leave its number, by zones, in the order of their first moments (D56):
 * lots take their turns in their order, each while it is open, at one message each `everyMs`. `delayMs` is how long others
 * keep the number busy from now on. A lot that does not get through has its last moment at the end of its openings.
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

/** When the last one of each lot has left; undefined for a lot that never opens. */
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
      // The last one leaves at the beginning of its slot.
      if (leftMs <= 0) return fromMs + Math.max(0, usedMs - everyMs);
    }
    return open.at(-1)?.[1];
  });
}

/** What of openings is not taken, which is in order. */
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
