/*
 * Clocks on walls: how far a zone is from UTC, and when that changes. Everything comes from the runtime's Intl: no rules of
 * summer time are kept here.
 */

/** A stretch of time in which a zone keeps one distance from UTC: local time is UTC and that distance. */
export interface Stretch {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly offsetMs: number;
}

const dayMs = 86_400_000;

/** The stretches between two moments, in order. Exact to the second: a change is searched for in a day at whose ends the offsets differ. */
export function stretchesOf(zone: string, fromMs: number, untilMs: number): Stretch[] {
  const stretches: Stretch[] = [];
  let beginsMs = fromMs;
  let offsetMs = offsetMsAt(zone, fromMs);
  for (let atMs = fromMs; atMs < untilMs; ) {
    const nextMs = Math.min(atMs + dayMs, untilMs);
    const nextOffsetMs = offsetMsAt(zone, nextMs);
    if (nextOffsetMs !== offsetMs) {
      const changeMs = Math.max(beginsMs, changeBetween(zone, atMs, nextMs));
      if (changeMs > beginsMs) stretches.push({ fromMs: beginsMs, untilMs: changeMs, offsetMs });
      [beginsMs, offsetMs] = [changeMs, nextOffsetMs];
    }
    atMs = nextMs;
  }
  if (beginsMs < untilMs) stretches.push({ fromMs: beginsMs, untilMs, offsetMs });
  return stretches;
}

/** The second from which on the offset is the later one. */
function changeBetween(zone: string, beforeMs: number, afterMs: number): number {
  const later = offsetMsAt(zone, afterMs);
  let [before, after] = [Math.floor(beforeMs / 1_000), Math.ceil(afterMs / 1_000)];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetMsAt(zone, middle * 1_000) === later) after = middle;
    else before = middle;
  }
  return after * 1_000;
}

/** `GMT`, `GMT+05:30`, or with seconds. */
const offsetForm = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/;

/** How far the clocks of a zone are ahead of UTC at a moment. Throws for a zone that the runtime does not know. */
export function offsetMsAt(zone: string, atMs: number): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = offsetForm.exec(clockOf(zone).format(atMs)) ?? [];
  const aheadMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
  return sign === '-' ? -aheadMs : aheadMs;
}

/** Each takes a tenth of a millisecond to make, and zones are some hundreds: callers hand over names as the runtime, the data or the operator spells them. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const clock = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  clocks.set(zone, clock);
  return clock;
}
