import { present } from '../../keys/present.ts';
import type { AccountMatter } from '../../platform/webhook/account-update.ts';
import { type HoldableMessage, type HoldScope, isOfRefusal, numberScope, scopesOf } from './scope.ts';

/*
 * What is held of a WABA, and who asks next whether it still must be (D46). A hold of a scope is
 *
 *   none            -> waiting          a worker: `opened`, by a refusal that concerns more than its message
 *                                       a worker: `afterSilentRun`, by the third run of a number in a row that heard nothing clear
 *   waiting, due    -> being asked      a worker that has a message of the scope: `asked`, under a lease, for one call
 *   being asked     -> none             the asker: `answered`, its message was taken (and, where receipts have told of the hold,
 *                                       one before it, which no receipt has refused within a minute)
 *   being asked     -> waiting, longer  the asker: `answered`, anything else
 *   being asked     -> being asked      the asker has died: the next one, when the lease is over
 *   waiting, asked  -> none             the platform's word, or a read of it: `ended`
 *
 * A message may be in several scopes. Its worker asks for all holds on it at once, in one write, or for none: so whatever is
 * called is held by nothing, or is the one question of every hold on it. A question is named by its hold and its number: an
 * answer that comes after its lease, when another worker asks, changes nothing, and so does one for a hold that is over.
 */

/** Why nothing leaves for a scope. */
export interface Hold {
  /** When it began, which is its name: who ends this hold ends no later one. */
  readonly sinceMs: number;
  /** The platform's code, or `no_answer`; of HTTP 500 without a code `http_500` and the like. */
  readonly code: string;
  /** The end that the platform has told. It is asked then, not believed. */
  readonly untilMs?: number;
  /** No worker asks before. */
  readonly nextAskMs: number;
  /** Questions so far, the one under way included. */
  readonly asks: number;
  /** The lease of the worker that asks. */
  readonly askedUntilMs?: number;
  /** A receipt has told of it: the platform takes messages and refuses them afterwards, so that one taken proves little. */
  readonly afterTaken?: true;
  /** When a question of such a hold was taken, and no receipt has refused it since. */
  readonly takenMs?: number;
}

/** Runs in a row of a number whose calls had no answer that says what became of them, and when the last one ended. */
export interface Silence {
  readonly runs: number;
  readonly atMs: number;
}

/** All that is held of one WABA, and the numbers that were silent lately. */
export interface Holds {
  readonly holds: Readonly<Partial<Record<HoldScope, Hold>>>;
  readonly silences: Readonly<Record<string, Silence>>;
  /** When the platform last said that something is restored, by its own clock: what it had said before of that is over. */
  readonly restoredMs?: Readonly<Partial<Record<AccountMatter, number>>>;
}

export const noHolds: Holds = { holds: {}, silences: {} };

/** Returns what is to be stored; the same holds where nothing is to change. */
export type HoldRule = (holds: Holds) => Holds;

export const noAnswerCode = 'no_answer';

/** A hold on a message. */
export interface HeldBy {
  readonly scope: HoldScope;
  readonly hold: Hold;
}

/** The holds on a message, the widest first: that one its report and its client are told. */
export function holdsOn({ holds }: Holds, message: HoldableMessage): HeldBy[] {
  return scopesOf(message).flatMap((scope) => {
    const hold = holds[scope];
    return hold === undefined ? [] : [{ scope, hold }];
  });
}

/** The first question comes so long after the refusal, each further one after twice the time, up to the longest. */
const firstWaitMs = 10_000;
const longestWaitMs = 600_000;

/** A told end that is wrong by years must not hold a WABA for years: one message a day asks whatever the platform has said. */
const longestTrustMs = 86_400_000;

/** When a hold with so many questions is asked next. */
function nextAskMs({ asks, untilMs = 0 }: Pick<Hold, 'asks' | 'untilMs'>, nowMs: number): number {
  const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** asks);
  return Math.max(nowMs + waitMs, Math.min(untilMs, nowMs + longestTrustMs));
}

/** What is told of a hold: why, when, and the end that the platform has told; `afterTaken`: by a receipt. */
export interface Found {
  readonly code: string;
  readonly nowMs: number;
  readonly untilMs?: number;
  readonly afterTaken?: true;
}

/**
 * Opens a hold. One that is open stays, with its name and its questions; an end that the platform tells only now is taken over.
 * `untilMs` that has passed says nothing.
 */
export function opened(scope: HoldScope, { code, nowMs, untilMs, afterTaken }: Found): HoldRule {
  return (holds) => {
    const known = holds.holds[scope];
    const until = untilMs === undefined || untilMs <= nowMs ? {} : { untilMs };
    const told = { ...until, ...present({ afterTaken }) };
    if (known === undefined) {
      const first = { sinceMs: nowMs, code, ...told, nextAskMs: nextAskMs({ asks: 0, ...until }, nowMs), asks: 0 };
      return withHold(remembered(holds, nowMs), scope, first);
    }
    const { takenMs, ...refused } = known;
    const isNews = (until.untilMs ?? known.untilMs) !== known.untilMs || (afterTaken && !known.afterTaken);
    if (!isNews && !(afterTaken && takenMs !== undefined)) return holds;
    const still = afterTaken ? refused : known;
    return withHold(holds, scope, { ...still, ...told, nextAskMs: nextAskMs({ asks: known.asks, ...until }, nowMs) });
  };
}

/** Longer than a call takes with the writes after it. */
const leaseMs = 60_000;

/** A question is called only while so much of its lease is left: the call's time-out, its writes, and clocks that are apart. */
const callBudgetMs = 20_000;

/** Whether somebody may ask for a hold now: it is time, and no other question is under way. */
export function mayAsk({ nextAskMs: dueMs, askedUntilMs = dueMs }: Hold, nowMs: number): boolean {
  return nowMs >= Math.max(dueMs, askedUntilMs);
}

/** Longer than a message takes that waits: to look again, and to reach its slot. */
const unaskedMs = 600_000;

/** Whether a hold has been due for so long that no message waits which could ask. */
export function isUnasked({ nextAskMs: dueMs, askedUntilMs = dueMs }: Hold, nowMs: number): boolean {
  return nowMs > Math.max(dueMs, askedUntilMs) + unaskedMs;
}

/** One question to the platform, by one message: which question of each hold it is. */
export interface Question {
  readonly untilMs: number;
  readonly of: readonly { readonly scope: HoldScope; readonly sinceMs: number; readonly ask: number }[];
}

/** Whether the message that asks may still be called: later, another worker may ask. */
export function mayCall({ untilMs }: Question, nowMs: number): boolean {
  return nowMs + callBudgetMs <= untilMs;
}

/** Takes the question of every hold on a message, when each of them may be asked. */
export function asked(message: HoldableMessage, nowMs: number): HoldRule {
  return (holds) => {
    const on = holdsOn(holds, message);
    if (!on.every(({ hold }) => mayAsk(hold, nowMs))) return holds;
    return on.reduce<Holds>(
      (next, { scope, hold }) => withHold(next, scope, { ...hold, asks: hold.asks + 1, askedUntilMs: nowMs + leaseMs }),
      holds,
    );
  };
}

/** The question that a worker has taken, of the holds as its own write has left them. */
export function questionOf(holds: Holds, message: HoldableMessage): Question {
  const on = holdsOn(holds, message);
  return {
    untilMs: Math.min(...on.map(({ hold }) => hold.askedUntilMs ?? 0)),
    of: on.map(({ scope, hold: { sinceMs, asks } }) => ({ scope, sinceMs, ask: asks })),
  };
}

/** Within this time a receipt tells that the platform refuses after all what it has taken. */
const receiptMs = 60_000;

/** What came of the message that asked. `refused`: with whatever code; `unclear`: it was not called, or what became of it is not known. */
export type ProbeResult = 'taken' | 'refused' | 'unclear';

/**
 * Ends the holds of a question whose message was taken; that of a number which gave no clear answer ends by a refusal too. Else
 * they are asked again, later each time. A hold that is over, or of which another question is under way, stays as it is.
 */
export function answered(question: Question, result: ProbeResult, nowMs: number): HoldRule {
  return (holds) =>
    question.of.reduce<Holds>((next, { scope, sinceMs, ask }) => {
      const hold = next.holds[scope];
      if (hold?.sinceMs !== sinceMs || hold.asks !== ask || hold.askedUntilMs === undefined) return next;
      const { askedUntilMs: _over, takenMs, ...waiting } = hold;
      const isProven = result === 'taken' && (!hold.afterTaken || takenMs !== undefined);
      if (isProven || (result === 'refused' && !isOfRefusal(hold.code))) return without(next, scope);
      if (result === 'taken')
        return withHold(next, scope, { ...waiting, takenMs: nowMs, nextAskMs: nowMs + receiptMs });
      return withHold(next, scope, { ...waiting, nextAskMs: nextAskMs(hold, nowMs) });
    }, holds);
}

/** Ends the hold that began then, by the platform's word or by what a read has found; a later one stays. */
export function ended(scope: HoldScope, sinceMs: number): HoldRule {
  return (holds) => (holds.holds[scope]?.sinceMs === sinceMs ? without(holds, scope) : holds);
}

const silentRunsToOpen = 3;

/** Runs further apart are not in a row, and numbers that fall silent further apart did not at once. */
export const rowMs = 300_000;

/**
 * After a run of a number that ended without an answer that says what became of its messages, while reads are answered: the third
 * in a row holds the number. `code`: `no_answer`, or that of an answer which leaves it open.
 */
export function afterSilentRun(
  number: Pick<HoldableMessage, 'phoneNumberId'>,
  { code, nowMs }: { readonly code: string; readonly nowMs: number },
): HoldRule {
  return (holds) => {
    const { phoneNumberId } = number;
    if (holds.holds[numberScope(number)] !== undefined) return holds;
    const recent = Object.entries(holds.silences).filter(([, { atMs }]) => nowMs - atMs < rowMs);
    const { [phoneNumberId]: known, ...silences } = Object.fromEntries(recent);
    const runs = (known?.runs ?? 0) + 1;
    if (runs < silentRunsToOpen) return { ...holds, silences: { ...silences, [phoneNumberId]: { runs, atMs: nowMs } } };
    // An answer that proves nothing may have the code of a refusal: what opened the hold is no refusal.
    const told = isOfRefusal(code) ? noAnswerCode : code;
    return opened(numberScope(number), { code: told, nowMs })({ ...holds, silences });
  };
}

/** After a run with an answer: no silent run of the number before it counts any more. */
export function afterAnsweredRun({ phoneNumberId }: Pick<HoldableMessage, 'phoneNumberId'>): HoldRule {
  return (holds) => {
    const { [phoneNumberId]: known, ...silences } = holds.silences;
    return known === undefined ? holds : { ...holds, silences };
  };
}

/** A hold of which no message has asked for so long stops none; a message that comes later finds out by itself. */
const memoryMs = 30 * 86_400_000;

function remembered(all: Holds, nowMs: number): Holds {
  const known = Object.entries(all.holds).filter(([, hold]) => hold !== undefined && nowMs - hold.nextAskMs < memoryMs);
  return { ...all, holds: Object.fromEntries(known) };
}

function withHold(all: Holds, scope: HoldScope, hold: Hold): Holds {
  return { ...all, holds: { ...all.holds, [scope]: hold } };
}

function without(all: Holds, scope: HoldScope): Holds {
  const { [scope]: _ended, ...holds } = all.holds;
  return { ...all, holds };
}
