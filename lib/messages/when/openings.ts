import type { Opening } from '../dispatch/lots.ts';
import { offsetSpansOf } from './wall-clock.ts';

export interface LocalTimes {
  /**
   * Minutes count from midnight. A window that does not end after its start crosses midnight. Without one, the whole
   * day is open.
   */
  readonly window?: { readonly fromMinute: number; readonly untilMinute: number };
  /** Sunday is 0; a window across midnight counts for the day it opens. Without days, every day is open. */
  readonly days?: ReadonlySet<number>;
}

const dayMs = 86_400_000;
const minuteMs = 60_000;
/** The first of January 1970 was a Thursday. */
const weekdayOfDayZero = 4;

/**
 * Returns when a zone's clocks show these times, merged and sorted, exact over clock changes: a repeated window opens
 * twice, and skipped time does not open.
 */
export function openingsIn(zone: string, times: LocalTimes, [fromMs, untilMs]: Opening): Opening[] {
  const openings = offsetSpansOf(zone, fromMs, untilMs).flatMap((stretch) => {
    const { offsetMs } = stretch;
    const [localFromMs, localUntilMs] = [stretch.fromMs + offsetMs, stretch.untilMs + offsetMs];
    return localOpenings(times, localFromMs, localUntilMs).map(
      ([opensMs, closesMs]): Opening => [opensMs - offsetMs, closesMs - offsetMs],
    );
  });
  return merged(openings);
}

/** Returns the openings on a clock without changes. */
function localOpenings({ window, days }: LocalTimes, fromMs: number, untilMs: number): Opening[] {
  const { fromMinute, untilMinute } = window ?? { fromMinute: 0, untilMinute: 0 };
  const lengthMs = (untilMinute - fromMinute) * minuteMs + (untilMinute > fromMinute ? 0 : dayMs);
  const openings: Opening[] = [];
  // A window of the previous day may reach into the first day.
  for (let day = Math.floor(fromMs / dayMs) - 1; day * dayMs < untilMs; day += 1) {
    const weekday = (((day + weekdayOfDayZero) % 7) + 7) % 7;
    if (days !== undefined && !days.has(weekday)) continue;
    const opensMs = day * dayMs + fromMinute * minuteMs;
    openings.push([opensMs, opensMs + lengthMs]);
  }
  return within(openings, [fromMs, untilMs]);
}

/** Merges openings that overlap or touch; the input is sorted. */
function merged(openings: readonly Opening[]): Opening[] {
  const apart: Opening[] = [];
  for (const [fromMs, untilMs] of openings) {
    const last = apart.at(-1);
    if (last !== undefined && fromMs <= last[1]) apart[apart.length - 1] = [last[0], Math.max(last[1], untilMs)];
    else apart.push([fromMs, untilMs]);
  }
  return apart;
}

/** Returns the parts of openings between two moments. */
export function within(openings: readonly Opening[], [fromMs, untilMs]: Opening): Opening[] {
  return openings
    .map(([opensMs, closesMs]): Opening => [Math.max(opensMs, fromMs), Math.min(closesMs, untilMs)])
    .filter(([opensMs, closesMs]) => opensMs < closesMs);
}

/** Returns when all of them are open at once. */
export function inAll([first = [], ...others]: readonly (readonly Opening[])[]): Opening[] {
  return others.reduce<Opening[]>((both, other) => both.flatMap((opening) => within(other, opening)), [...first]);
}
