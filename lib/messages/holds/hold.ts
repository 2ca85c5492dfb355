import type { AccountMatter } from '../../platform/webhook/account-update.ts';
import type { Settlement } from '../dispatch/item.ts';
import {
  type HoldableMessage,
  type HoldScope,
  isOfRefusal,
  numberScope,
  parkScopeOf,
  scopesOf,
  templateScope,
} from './scope.ts';

// The holds of a WABA, and who probes next whether they are over (D46). A worker opens one by a wide refusal
// (`opened`), or by a number's third silent run (`afterSilentRun`).

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
  /** A reading found that the template is never approved again: what was accepted before ends so. */
  readonly verdict?: HoldVerdict;
}

/** `atMs` is when the reading began. */
export type HoldVerdict = Settlement & { readonly atMs: number };

/** A hold ended then without a taken message that proves it, after so many questions. */
export interface UnprovenEnd {
  readonly atMs: number;
  readonly asks: number;
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
  /** The newest unproven ends. */
  readonly unproven?: Readonly<Partial<Record<HoldScope, UnprovenEnd>>>;
}

/** Pauses of an unproven end go on for so long at most, and an old end says nothing of a new hold. */
export const longestUnprovenMs = 600_000;

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
  return scopesNow(all, message).flatMap((scope) => {
    const hold = holds[scope];
    return hold === undefined ? [] : [{ scope, hold }];
  });
}

export function scopesNow(all: Holds, message: HoldableMessage): HoldScope[] {
  const category = isNowMarketing(all, message) ? 'MARKETING' : message.category;
  return scopesOf({ ...message, category });
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

export function askedNextMs({ asks, untilMs = 0 }: Pick<Hold, 'asks' | 'untilMs'>, nowMs: number): number {
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
      const { [scope]: before, ...unproven } = holds.unproven ?? {};
      // A template flaps; what ends for an account or a number concerns many, and is asked soon.
      const isOld = parkScopeOf(scope) !== 'template' || nowMs >= (before?.atMs ?? 0) + longestUnprovenMs;
      const asks = isOld ? 0 : (before?.asks ?? 0);
      const first = { sinceMs: nowMs, code, ...facts, nextAskMs: askedNextMs({ asks, ...until }, nowMs), asks };
      return withHold({ ...remembered(holds, nowMs), ...(before && { unproven }) }, scope, first);
    }
    const { takenMs, ...refused } = known;
    if (byReading) return known.code === code ? holds : withHold(holds, scope, { ...known, code });
    const isNews = (until.untilMs ?? known.untilMs) !== known.untilMs || (afterTaken && !known.afterTaken);
    if (!isNews && !(afterTaken && takenMs !== undefined)) return holds;
    const still = afterTaken ? refused : known;
    return withHold(holds, scope, {
      ...still,
      ...facts,
      nextAskMs: askedNextMs({ asks: known.asks, ...until }, nowMs),
    });
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

export function withTime(times: TemplateTimes = {}, scope: HoldScope, atMs: number): TemplateTimes {
  return Object.fromEntries(newest(Object.entries({ ...times, [scope]: atMs }), ([, time = 0]) => time));
}

export function newest<T>(all: readonly T[], timeOf: (one: T) => number): T[] {
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

export function withHold(all: Holds, scope: HoldScope, hold: Hold): Holds {
  return { ...all, holds: { ...all.holds, [scope]: hold } };
}

export function without(all: Holds, scope: HoldScope): Holds {
  const { [scope]: _ended, ...holds } = all.holds;
  return { ...all, holds };
}
