import type { AccountMatter } from '../../platform/webhook/account-update.ts';
import { type HoldableMessage, type HoldScope, isOfRefusal, numberScope, scopesOf, templateScope } from './scope.ts';

// The holds of a WABA, and who probes next whether they are over (D46). A worker opens one by a wide refusal
// (`opened`), or by a number's third silent run (`afterSilentRun`).

// When a probe is due, a worker with a message of the scope leases one call (`probeTaken`). `probeEnded` ends the hold
// if the message was taken, else the next probe comes later.

// An account update of the platform, or a read of the account, ends a hold as well (`ended`).

// A worker takes the probes of all holds on its message in one write, or none. A probe is named by hold and number: a
// late answer changes nothing.

export interface Hold {
  /** The start of the hold identifies it: a writer that ends this hold ends no later one. */
  readonly sinceMs: number;
  /** The code is the platform's, `no_answer`, or `http_500` and the like for an HTTP error without a code. */
  readonly code: string;
  /** The platform announced this end, which is probed then, not trusted. */
  readonly untilMs?: number;
  /** No worker probes before this time. */
  readonly nextAskMs: number;
  /** This many probes were made, a running one included. */
  readonly asks: number;
  /** The probing worker has the lease until then. */
  readonly askedUntilMs?: number;
  /** A receipt reported it: the platform takes messages and refuses them later, so one taken message proves little. */
  readonly afterTaken?: true;
  /** A probe of such a hold was taken then, and no receipt has refused it since. */
  readonly takenMs?: number;
  /** Only a reading of the template ends it: no message probes (D42, D46). */
  readonly byReading?: true;
}

/** A number's consecutive runs had no clear answer; `atMs` is the end of the last one. */
export interface Silence {
  readonly runs: number;
  readonly atMs: number;
}

export interface Holds {
  readonly holds: Readonly<Partial<Record<HoldScope, Hold>>>;
  readonly silences: Readonly<Record<string, Silence>>;
  /** By the platform's own clock, it last restored a matter then: its earlier updates of the matter are void. */
  readonly restoredMs?: Readonly<Partial<Record<AccountMatter, number>>>;
  /** A review of the template ended then: what was composed before is judged again (D46, D56). */
  readonly reviewedMs?: TemplateTimes;
  /** The platform said then that the template is MARKETING: what was accepted before counts as that (D42). */
  readonly marketingMs?: TemplateTimes;
}

/** By its scope, a template has a time. Only the newest are kept, so that the item stays small. */
export type TemplateTimes = Readonly<Partial<Record<HoldScope, number>>>;

const mostTemplates = 100;

export const noHolds: Holds = { holds: {}, silences: {} };

/** Returns the holds to store; the same object for no change. */
export type HoldRule = (holds: Holds) => Holds;

export const noAnswerCode = 'no_answer';

/** Messages of a template in review wait with this code (D46). */
export const inReviewCode = 'template_in_review';

export interface HeldBy {
  readonly scope: HoldScope;
  readonly hold: Hold;
}

/** Returns the holds on a message, the widest first: report and client see that one. */
export function holdsOn(all: Holds, message: HoldableMessage): HeldBy[] {
  const { holds } = all;
  const category = isNowMarketing(all, message) ? 'MARKETING' : message.category;
  return scopesOf({ ...message, category }).flatMap((scope) => {
    const hold = holds[scope];
    return hold === undefined ? [] : [{ scope, hold }];
  });
}

/** Tells whether the platform has made the message's template MARKETING since it was accepted (D42). */
export function isNowMarketing({ marketingMs = {} }: Holds, message: HoldableMessage): boolean {
  return message.category !== 'MARKETING' && marketingMs[templateScope(message)] !== undefined;
}

/** Tells whether a review of the template has ended since the message was composed (D46). */
export function isOutdated({ reviewedMs = {} }: Holds, message: HoldableMessage, composedMs: number): boolean {
  return (reviewedMs[templateScope(message)] ?? 0) > composedMs;
}

/** The first probe comes this long after the refusal, each later one after twice the time, up to the longest. */
const firstWaitMs = 10_000;
const longestWaitMs = 600_000;

/** The platform may announce an end that is wrong by years, so one message a day probes in any case. */
const longestTrustMs = 86_400_000;

function nextAskMs({ asks, untilMs = 0 }: Pick<Hold, 'asks' | 'untilMs'>, nowMs: number): number {
  const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** asks);
  return Math.max(nowMs + waitMs, Math.min(untilMs, nowMs + longestTrustMs));
}

/** The platform announced the end `untilMs`; `afterTaken` means that a receipt gave the reason. */
export interface HoldReason {
  readonly code: string;
  readonly nowMs: number;
  readonly untilMs?: number;
  readonly afterTaken?: true;
  readonly byReading?: true;
}

/**
 * Opens a hold. An open one keeps its identity and probes, but takes over a newly announced end. One that only a
 * reading ends takes the place of one with probes, and has the code of the latest word.
 */
export function opened(scope: HoldScope, { code, nowMs, untilMs, afterTaken, byReading }: HoldReason): HoldRule {
  return (holds) => {
    const current = holds.holds[scope];
    const known = byReading && !current?.byReading ? undefined : current;
    const until = untilMs === undefined || untilMs <= nowMs ? {} : { untilMs };
    const facts = { ...until, ...(afterTaken ? { afterTaken } : {}), ...(byReading ? { byReading } : {}) };
    if (known === undefined) {
      const first = { sinceMs: nowMs, code, ...facts, nextAskMs: nextAskMs({ asks: 0, ...until }, nowMs), asks: 0 };
      return withHold(remembered(holds, nowMs), scope, first);
    }
    const { takenMs, ...refused } = known;
    if (byReading) return known.code === code ? holds : withHold(holds, scope, { ...known, code });
    const isNews = (until.untilMs ?? known.untilMs) !== known.untilMs || (afterTaken && !known.afterTaken);
    if (!isNews && !(afterTaken && takenMs !== undefined)) return holds;
    const still = afterTaken ? refused : known;
    return withHold(holds, scope, { ...still, ...facts, nextAskMs: nextAskMs({ asks: known.asks, ...until }, nowMs) });
  };
}

/** A call with the writes after it is shorter. */
const leaseMs = 60_000;

/** A probe is called only with this much of its lease left, for the call's timeout, its writes, and clock skew. */
const callBudgetMs = 20_000;

/** Tells whether a probe is due and no other one is running. */
export function isProbeDue({ nextAskMs: dueMs, askedUntilMs = dueMs, byReading }: Hold, nowMs: number): boolean {
  return !byReading && nowMs >= Math.max(dueMs, askedUntilMs);
}

/** A waiting message needs less time to look again and reach its turn. */
const probeOverdueMs = 600_000;

/** Tells whether a probe is overdue for so long that no message can be waiting to make it. */
export function isProbeOverdue({ nextAskMs: dueMs, askedUntilMs = dueMs, byReading }: Hold, nowMs: number): boolean {
  return !byReading && nowMs > Math.max(dueMs, askedUntilMs) + probeOverdueMs;
}

/** A probe by one message has its number in each hold. */
export interface Probe {
  readonly untilMs: number;
  readonly of: readonly { readonly scope: HoldScope; readonly sinceMs: number; readonly ask: number }[];
}

/** Tells whether the probe may still be called: later, another worker may probe. */
export function mayCallProbe({ untilMs }: Probe, nowMs: number): boolean {
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
      return withHold(next, scope, { ...waiting, nextAskMs: nextAskMs(hold, nowMs) });
    }, holds);
}

/** Ends the hold that began at `sinceMs`, after an account update or a read; a later one stays. */
export function ended(scope: HoldScope, sinceMs: number): HoldRule {
  return (holds) => (holds.holds[scope]?.sinceMs === sinceMs ? without(holds, scope) : holds);
}

/** Ends a template's hold after a reading. What waited for a review is judged again (D56). */
export function endedByReading(scope: HoldScope, sinceMs: number, nowMs: number): HoldRule {
  return (holds) => {
    const hold = holds.holds[scope];
    if (hold?.sinceMs !== sinceMs) return holds;
    const rest = without(holds, scope);
    return hold.byReading ? { ...rest, reviewedMs: withTime(rest.reviewedMs, scope, nowMs) } : rest;
  };
}

/** Notes the platform's word that the template is MARKETING; the first word counts. */
export function madeMarketing(scope: HoldScope, nowMs: number): HoldRule {
  return (holds) =>
    holds.marketingMs?.[scope] === undefined
      ? { ...holds, marketingMs: withTime(holds.marketingMs, scope, nowMs) }
      : holds;
}

/** A reading shows another category than MARKETING. */
export function madeOtherThanMarketing(scope: HoldScope): HoldRule {
  return (holds) => {
    const { [scope]: known, ...marketingMs } = holds.marketingMs ?? {};
    return known === undefined ? holds : { ...holds, marketingMs };
  };
}

function withTime(times: TemplateTimes = {}, scope: HoldScope, atMs: number): TemplateTimes {
  return Object.fromEntries(newest(Object.entries({ ...times, [scope]: atMs }), ([, time = 0]) => time));
}

function newest<T>(all: readonly T[], timeOf: (one: T) => number): T[] {
  return all.toSorted((one, other) => timeOf(other) - timeOf(one)).slice(0, mostTemplates);
}

const silentRunsToOpen = 3;

/** Runs further apart are not consecutive, and numbers silent further apart were not silent together. */
export const consecutiveWithinMs = 300_000;

/**
 * Counts a run without a clear answer while reads are answered: the third in a row holds the number. `code` is the
 * answer's, or `no_answer`.
 */
export function afterSilentRun(
  number: Pick<HoldableMessage, 'phoneNumberId'>,
  { code, nowMs }: { readonly code: string; readonly nowMs: number },
): HoldRule {
  return (holds) => {
    const { phoneNumberId } = number;
    if (holds.holds[numberScope(number)] !== undefined) return holds;
    const recent = Object.entries(holds.silences).filter(([, { atMs }]) => nowMs - atMs < consecutiveWithinMs);
    const { [phoneNumberId]: known, ...silences } = Object.fromEntries(recent);
    const runs = (known?.runs ?? 0) + 1;
    if (runs < silentRunsToOpen) return { ...holds, silences: { ...silences, [phoneNumberId]: { runs, atMs: nowMs } } };
    // An unclear answer may carry the code of a refusal, but no refusal opened this hold.
    const holdCode = isOfRefusal(code) ? noAnswerCode : code;
    return opened(numberScope(number), { code: holdCode, nowMs })({ ...holds, silences });
  };
}

/** Forgets the number's silent runs after a run with an answer. */
export function afterAnsweredRun({ phoneNumberId }: Pick<HoldableMessage, 'phoneNumberId'>): HoldRule {
  return (holds) => {
    const { [phoneNumberId]: known, ...silences } = holds.silences;
    return known === undefined ? holds : { ...holds, silences };
  };
}

/** A hold without probes for so long stops no message; a later message finds out by itself. */
const memoryMs = 30 * 86_400_000;

function remembered(all: Holds, nowMs: number): Holds {
  const known = Object.entries(all.holds).filter(([, hold]) => hold !== undefined && nowMs - hold.nextAskMs < memoryMs);
  const [read, probed] = [true, false].map((is) => known.filter(([, hold]) => (hold?.byReading === true) === is));
  return {
    ...all,
    holds: Object.fromEntries([...(probed ?? []), ...newest(read ?? [], ([, hold]) => hold?.sinceMs ?? 0)]),
  };
}

function withHold(all: Holds, scope: HoldScope, hold: Hold): Holds {
  return { ...all, holds: { ...all.holds, [scope]: hold } };
}

function without(all: Holds, scope: HoldScope): Holds {
  const { [scope]: _ended, ...holds } = all.holds;
  return { ...all, holds };
}
