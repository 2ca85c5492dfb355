import {
  askedNextMs,
  type Hold,
  type HoldRule,
  type Holds,
  type HoldVerdict,
  holdsOn,
  withHold,
  without,
} from './hold.ts';
import { type HoldableMessage, type HoldScope, isOfRefusal } from './scope.ts';

// When a probe is due, a worker with a message of the scope leases one call (`probeTaken`). `probeEnded` ends the hold
// if the message was taken, else the next probe comes later.

// An account update of the platform, or a read of the account, ends a hold as well (`ended`).

// A worker takes the probes of all holds on its message in one write, or none. A probe is named by hold and number: a
// late answer changes nothing.

// A hold that only a reading of its template ends is asked likewise: a sender with a held dispatch leases the reading
// when it is due (`readingTaken`), and its death hands the question on.

/** A call with the writes after it is shorter. */
const leaseMs = 60_000;

/** A probe is called only with this much of its lease left, for the call's timeout, its writes, and clock skew. */
const callBudgetMs = 20_000;

/** Tells whether a probe is due and no other one is running. */
export function isProbeDue(hold: Hold, nowMs: number): boolean {
  return !hold.byReading && nowMs >= askMsOf(hold);
}

/** Returns when the hold may be asked next: a question that is under way has its lease until then. */
export function askMsOf({ nextAskMs: dueMs, askedUntilMs = dueMs }: Hold): number {
  return Math.max(dueMs, askedUntilMs);
}

/** A question of a hold has a number: a late answer changes no later one. */
export interface Asked {
  readonly scope: HoldScope;
  readonly sinceMs: number;
  readonly ask: number;
}

/** One message probes all holds on it. */
export interface Probe {
  readonly untilMs: number;
  readonly of: readonly Asked[];
}

/** Tells whether the question may still be asked: later, another run may ask. */
export function mayStillAsk({ untilMs }: Pick<Probe, 'untilMs'>, nowMs: number): boolean {
  return nowMs + callBudgetMs <= untilMs;
}

/** Takes the probes of all holds on a message, if all are due. */
export function probeTaken(message: HoldableMessage, nowMs: number): HoldRule {
  return (holds) => {
    const on = holdsOn(holds, message);
    if (!on.every(({ hold }) => isProbeDue(hold, nowMs))) return holds;
    return on.reduce<Holds>(
      (next, { scope, hold }) => withHold(next, scope, { ...hold, asks: hold.asks + 1, askedUntilMs: nowMs + leaseMs }),
      holds,
    );
  };
}

/** Returns the probe that a worker has taken, from the holds that its own write stored. */
export function probeOf(holds: Holds, message: HoldableMessage): Probe {
  const on = holdsOn(holds, message);
  return {
    untilMs: Math.min(...on.map(({ hold }) => hold.askedUntilMs ?? 0)),
    of: on.map(({ scope, hold: { sinceMs, asks } }) => ({ scope, sinceMs, ask: asks })),
  };
}

/** Takes the reading that a template's hold waits for, if it is due. */
export function readingTaken(scope: HoldScope, nowMs: number): HoldRule {
  return (holds) => {
    const hold = holds.holds[scope];
    if (!hold?.byReading || nowMs < askMsOf(hold)) return holds;
    return withHold(holds, scope, { ...hold, asks: hold.asks + 1, askedUntilMs: nowMs + leaseMs });
  };
}

/**
 * Notes what a reading says that does not end the hold: a verdict, that the template is to be awaited, or nothing
 * (`unanswered`), which leaves an earlier verdict.
 */
export function readAs(
  { scope, sinceMs, ask }: Asked,
  said: HoldVerdict | 'unanswered' | undefined,
  nowMs: number,
): HoldRule {
  return (holds) => {
    const hold = holds.holds[scope];
    if (hold?.sinceMs !== sinceMs || hold.asks !== ask) return holds;
    const { askedUntilMs: _over, verdict: before, ...waiting } = hold;
    const verdict = said === 'unanswered' ? before : said;
    return withHold(holds, scope, { ...waiting, ...(verdict && { verdict }), nextAskMs: askedNextMs(hold, nowMs) });
  };
}

/**
 * Tells whether a verdict ends what was accepted then. A later dispatch waits for the next reading: the template may be
 * another one of that name.
 */
export function isOverBy({ verdict }: Hold, acceptedAtMs: number): boolean {
  return verdict !== undefined && acceptedAtMs < verdict.atMs;
}

/** A receipt reports within this time that the platform refuses a message that it took. */
const receiptMs = 60_000;

/** `refused` is by any code; `unclear` means not called, or an unknown outcome. */
export type ProbeResult = 'taken' | 'refused' | 'unclear';

/**
 * Ends a probe's holds when its message was taken; a hold for silence by a refusal too. Otherwise the next probe comes
 * later. Skips ended holds and newer probes.
 */
export function probeEnded(question: Probe, result: ProbeResult, nowMs: number): HoldRule {
  return (holds) =>
    question.of.reduce<Holds>((next, { scope, sinceMs, ask }) => {
      const hold = next.holds[scope];
      if (hold?.sinceMs !== sinceMs || hold.asks !== ask || hold.askedUntilMs === undefined) return next;
      const { askedUntilMs: _over, takenMs, ...waiting } = hold;
      const isProven = result === 'taken' && (!hold.afterTaken || takenMs !== undefined);
      if (isProven || (result === 'refused' && !isOfRefusal(hold.code))) return without(next, scope);
      // The hold came from a receipt: it ends with the next taken probe, if no receipt refuses this one within a
      // minute.
      if (result === 'taken')
        return withHold(next, scope, { ...waiting, takenMs: nowMs, nextAskMs: nowMs + receiptMs });
      return withHold(next, scope, { ...waiting, nextAskMs: askedNextMs(hold, nowMs) });
    }, holds);
}
