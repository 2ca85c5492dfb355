import { hashKey } from '../../keys/hash-key.ts';
import { canonicalNumber } from '../../opt-outs/canonical-number.ts';

/** What is known of a number's pace, in one item. Its sender keeps the turns themselves (sender/turns.ts). */
export interface KnownPace {
  /** The version is 0 if nothing is stored. */
  readonly version: number;
  /** The platform's refusals (130429) taught this pace then. */
  readonly learned?: { readonly perSecond: number; readonly atMs: number };
  /** An operator caps it temporarily (`infra/ops number`). A lower limit of the platform still applies. */
  readonly capped?: { readonly perSecond: number; readonly untilMs: number };
  /** The number may not write to these people before a time (131056). */
  readonly pairs: readonly BlockedPair[];
  /**
   * A call waited long for its answer: until then workers of small requests leave the number to its sender
   * (D44).
   */
  readonly slowUntilMs?: number;
}

export interface BlockedPair {
  readonly recipientHash: string;
  readonly untilMs: number;
}

export const unknownPace: KnownPace = { version: 0, pairs: [] };

/** Everything but one-time codes has nine tenths (D43); codes have the rest (D44). */
const bulkShare = 0.9;
const urgentShare = 0.1;

const climbMs = 300_000;
/** A step is longer than refusals count once, so refusals in a row make the pace ever slower. */
export const climbStepMs = 5_000;
const slowdownFactor = 0.75;
/** Calls that were under way still speak of the pace before. */
const slowdownEveryMs = 3_000;
const slowestPerSecond = 1;
const rememberedPairs = 100;

/** Returns messages a second now: the lower of limit and cap. A learned pace climbs back to it within five minutes. */
export function perSecondOf(platformsPerSecond: number, pace: KnownPace, nowMs: number): number {
  const { learned } = pace;
  const limitPerSecond = Math.min(platformsPerSecond, capOf(pace, nowMs) ?? platformsPerSecond);
  if (learned === undefined || learned.perSecond >= limitPerSecond) return limitPerSecond;
  const elapsedMs = Math.max(0, Math.floor((nowMs - learned.atMs) / climbStepMs) * climbStepMs);
  const climbed = Math.min(1, elapsedMs / climbMs);
  return learned.perSecond + (limitPerSecond - learned.perSecond) * climbed;
}

/** Returns the cap in force, or undefined without one, or once it has ended. */
export function capOf({ capped }: KnownPace, nowMs: number): number | undefined {
  return capped === undefined || capped.untilMs <= nowMs ? undefined : capped.perSecond;
}

/** Sets an operator's cap, or removes it. */
export function withCap({ capped: _before, ...uncapped }: KnownPace, capped: KnownPace['capped']): KnownPace {
  return capped === undefined ? uncapped : { ...uncapped, capped };
}

/** Returns messages a second for all but one-time codes. */
export function bulkPerSecond(limitPerSecond: number, pace: KnownPace, nowMs: number): number {
  return bulkShare * perSecondOf(limitPerSecond, pace, nowMs);
}

/** Returns milliseconds between two of these. */
export function bulkEveryMs(limitPerSecond: number, pace: KnownPace, nowMs: number): number {
  return 1_000 / bulkPerSecond(limitPerSecond, pace, nowMs);
}

/** Returns milliseconds between two messages of the last tenth, rounded up to be safe. */
export function urgentEveryMs(limitPerSecond: number, pace: KnownPace, nowMs: number): number {
  return Math.ceil(1_000 / (urgentShare * perSecondOf(limitPerSecond, pace, nowMs)));
}

/**
 * Slows the pace by a quarter after a refusal for the number's sake. Changes nothing if that happened just now:
 * concurrent refusals count once.
 */
export function slowedDown(pace: KnownPace, limitPerSecond: number, nowMs: number): KnownPace {
  if (pace.learned !== undefined && Math.abs(nowMs - pace.learned.atMs) < slowdownEveryMs) return pace;
  const perSecond = Math.max(slowestPerSecond, perSecondOf(limitPerSecond, pace, nowMs) * slowdownFactor);
  return { ...pace, learned: { perSecond, atMs: nowMs } };
}

/** The longest call takes this long: by then its answer is there, or the number is about to be held (D46). */
const slowMs = 10_000;

/** Notes a call that waits long for its answer. Changes nothing while the stored note is fresh. */
export function answeringSlowly(pace: KnownPace, nowMs: number): KnownPace {
  return (pace.slowUntilMs ?? 0) > nowMs + slowMs / 2 ? pace : { ...pace, slowUntilMs: nowMs + slowMs };
}

export function isAnsweringSlowly({ slowUntilMs = 0 }: KnownPace, nowMs: number): boolean {
  return nowMs < slowUntilMs;
}

/** Returns the name of a recipient in the item: short, no phone number, and the same in every spelling (D25). */
export function recipientHashOf(to: string): string {
  return hashKey([canonicalNumber(to)], 12);
}

/** Returns undefined when the number may write to the person now. */
export function blockedUntilMs(pace: KnownPace, recipientHash: string, nowMs: number): number | undefined {
  const untilMs = pace.pairs.find((pair) => pair.recipientHash === recipientHash)?.untilMs;
  return untilMs === undefined || untilMs <= nowMs ? undefined : untilMs;
}

/** Stores a person until a time, at most 100, dropping the oldest. A later stored time of the person stays. */
export function withBlocked(pace: KnownPace, recipientHash: string, untilMs: number, nowMs: number): KnownPace {
  const known = pace.pairs.find((pair) => pair.recipientHash === recipientHash);
  if (known !== undefined && known.untilMs >= untilMs) return pace;
  const others = pace.pairs.filter((pair) => pair !== known && pair.untilMs > nowMs);
  return { ...pace, pairs: [...others, { recipientHash, untilMs }].slice(-rememberedPairs) };
}
