/* The runtime's Intl tells offsets of zones from UTC and their changes: no daylight-saving rules are stored here. */

/** A time span has one offset: local time is UTC plus `offsetMs`. */
export interface OffsetSpan {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly offsetMs: number;
}

const dayMs = 86_400_000;

/**
 * Returns the spans between two moments, in order, exact to the second: a change is searched within a day whose ends
 * differ.
 */
export function offsetSpansOf(zone: string, fromMs: number, untilMs: number): OffsetSpan[] {
  const stretches: OffsetSpan[] = [];
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

/** Returns the first second of the later offset. */
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

/** The form matches `GMT`, `GMT+05:30`, or with seconds. */
const offsetForm = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/;

/** Returns how far a zone's clocks are ahead of UTC. Throws for a zone that the runtime does not know. */
export function offsetMsAt(zone: string, atMs: number): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = offsetForm.exec(clockOf(zone).format(atMs)) ?? [];
  const aheadMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
  return sign === '-' ? -aheadMs : aheadMs;
}

/**
 * Each takes a tenth of a millisecond to make, and there are some hundreds: callers pass names as the runtime, the data
 * or the operator spells them.
 */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const clock = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  clocks.set(zone, clock);
  return clock;
}
