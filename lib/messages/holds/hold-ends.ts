import { type HoldRule, type Holds, longestUnprovenMs, newest, scopesNow, without, withTime } from './hold.ts';
import type { HoldableMessage, HoldScope } from './scope.ts';

// The end of a hold by a word or a reading is unproven: until a message is taken, or for ten minutes, the pauses of its
// dispatches go on (`pausedUntilMs`).

// A template that is held again meanwhile is asked as rarely as before. So what flaps is one pause.

/** Ends the hold that began at `sinceMs`, after an account update or an operator's word; a later one stays. */
export function ended(scope: HoldScope, sinceMs: number, nowMs: number): HoldRule {
  return (holds) => {
    const hold = holds.holds[scope];
    if (hold?.sinceMs !== sinceMs) return holds;
    const unproven = { ...holds.unproven, [scope]: { atMs: nowMs, asks: hold.asks } };
    const newestEnds = newest(Object.entries(unproven), ([, end]) => end?.atMs ?? 0);
    return { ...without(holds, scope), unproven: Object.fromEntries(newestEnds) };
  };
}

/** Ends a template's hold after a reading. What waited for a review is judged again (D56). */
export function endedByReading(scope: HoldScope, sinceMs: number, nowMs: number): HoldRule {
  return (holds) => {
    const hold = holds.holds[scope];
    if (hold?.sinceMs !== sinceMs) return holds;
    const rest = ended(scope, sinceMs, nowMs)(holds);
    return hold.byReading ? { ...rest, reviewedMs: withTime(rest.reviewedMs, scope, nowMs) } : rest;
  };
}

/** Returns until when the pauses of a message's dispatches go on without a hold: 0 where all ends are proven. */
export function pausedUntilMs(all: Holds, message: HoldableMessage): number {
  const ends = scopesNow(all, message).flatMap((scope) => all.unproven?.[scope] ?? []);
  return Math.max(0, ...ends.map(({ atMs }) => atMs + longestUnprovenMs));
}

/** The platform took a message that was called at `calledMs`: the ends before are proven. */
export function proven(message: HoldableMessage, calledMs: number): HoldRule {
  return (holds) => {
    const { unproven = {} } = holds;
    const over = scopesNow(holds, message).filter((scope) => (unproven[scope]?.atMs ?? calledMs) < calledMs);
    if (over.length === 0) return holds;
    const left = Object.entries(unproven).filter(([scope]) => !over.includes(scope as HoldScope));
    return { ...holds, unproven: Object.fromEntries(left) };
  };
}
