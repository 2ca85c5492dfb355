import { hashKey } from '../../keys/hash-key.ts';
import { present } from '../../keys/present.ts';
import { atPace, emptySchedule, type Schedule } from './schedule.ts';

/** What is known of the pace of a number: one item, written as a whole under its version. */
export interface NumberPace {
  /** 0 while nothing is stored. */
  readonly version: number;
  readonly schedule: Schedule;
  /** What the platform's refusals have taught (130429), and when. */
  readonly learned?: { readonly perSecond: number; readonly atMs: number };
  /** An operator's word: no more than so many a second until then (`npm run number`). The platform's limit counts where it is lower. */
  readonly capped?: { readonly perSecond: number; readonly untilMs: number };
  /** Persons to whom the number may not write before a time (131056). */
  readonly pairs: readonly BlockedPair[];
  /** A call to it had no answer for a while: until then the workers of small requests leave it to those of jobs (D44). */
  readonly slowUntilMs?: number;
}

export interface BlockedPair {
  readonly recipientHash: string;
  readonly untilMs: number;
}

export const unknownPace: NumberPace = { version: 0, schedule: emptySchedule, pairs: [] };

/** What all but one-time codes take of a number (D43), and what is kept for those (D44). */
const bulkShare = 0.9;
const urgentShare = 0.1;

const climbMs = 300_000;
/** Every step is another spacing, and another segment of the schedule. */
export const climbStepMs = 5_000;
const slowdownFactor = 0.75;
/** Slots of the next two seconds stay as they are, so that their refusals still speak of the former pace. */
const slowdownEveryMs = 3_000;
const slowestPerSecond = 1;
const rememberedPairs = 100;

/**
 * Messages a second that the number takes now: the lower one of its limit and an operator's cap, or what was learned, which
 * climbs back to that within five minutes.
 */
export function perSecondOf(platformsPerSecond: number, pace: NumberPace, nowMs: number): number {
  const { learned } = pace;
  const limitPerSecond = Math.min(platformsPerSecond, capOf(pace, nowMs) ?? platformsPerSecond);
  if (learned === undefined || learned.perSecond >= limitPerSecond) return limitPerSecond;
  const elapsedMs = Math.max(0, Math.floor((nowMs - learned.atMs) / climbStepMs) * climbStepMs);
  const climbed = Math.min(1, elapsedMs / climbMs);
  return learned.perSecond + (limitPerSecond - learned.perSecond) * climbed;
}

/** The operator's cap that counts now; undefined where there is none, or its time has passed. */
export function capOf({ capped }: NumberPace, nowMs: number): number | undefined {
  return capped === undefined || capped.untilMs <= nowMs ? undefined : capped.perSecond;
}

/**
 * With an operator's cap, or without one (`capped` undefined): what is not due yet moves to the new pace at once. Where a cap ends
 * by itself, the next reservation does that; a job that has more to send makes one within a minute.
 */
export function withCap(
  pace: NumberPace,
  capped: NumberPace['capped'],
  { limitPerSecond, nowMs }: { readonly limitPerSecond: number; readonly nowMs: number },
): NumberPace {
  const { capped: _before, ...uncapped } = pace;
  const changed: NumberPace = { ...uncapped, ...present({ capped }) };
  return { ...changed, schedule: atPace(pace.schedule, bulkEveryMs(limitPerSecond, changed, nowMs), nowMs) };
}

/** Messages a second of the schedule. */
export function bulkPerSecond(limitPerSecond: number, pace: NumberPace, nowMs: number): number {
  return bulkShare * perSecondOf(limitPerSecond, pace, nowMs);
}

/** Milliseconds between two slots of the schedule. */
export function bulkEveryMs(limitPerSecond: number, pace: NumberPace, nowMs: number): number {
  return 1_000 / bulkPerSecond(limitPerSecond, pace, nowMs);
}

/** Milliseconds between two slots of the last tenth: whole ones, never closer than they may be. */
export function urgentEveryMs(limitPerSecond: number, pace: NumberPace, nowMs: number): number {
  return Math.ceil(1_000 / (urgentShare * perSecondOf(limitPerSecond, pace, nowMs)));
}

/**
 * After the platform has refused for the number's sake: a quarter slower, schedule included. The pace itself when that
 * was done just now, for the refusals of one moment are one.
 */
export function slowedDown(pace: NumberPace, limitPerSecond: number, nowMs: number): NumberPace {
  if (pace.learned !== undefined && Math.abs(nowMs - pace.learned.atMs) < slowdownEveryMs) return pace;
  const perSecond = Math.max(slowestPerSecond, perSecondOf(limitPerSecond, pace, nowMs) * slowdownFactor);
  const slower = { ...pace, learned: { perSecond, atMs: nowMs } };
  const everyMs = bulkEveryMs(limitPerSecond, slower, nowMs);
  return { ...slower, schedule: atPace(pace.schedule, everyMs, nowMs) };
}

/** As long as a call lasts at most: by then its answer has come, or the number is on its way to being held (D46). */
const slowMs = 10_000;

/** After a call to the number has had no answer for a while. The pace itself while that is known well enough. */
export function answeringSlowly(pace: NumberPace, nowMs: number): NumberPace {
  return (pace.slowUntilMs ?? 0) > nowMs + slowMs / 2 ? pace : { ...pace, slowUntilMs: nowMs + slowMs };
}

export function isAnsweringSlowly({ slowUntilMs = 0 }: NumberPace, nowMs: number): boolean {
  return nowMs < slowUntilMs;
}

/** How a recipient is named in the item: short, and no phone number. */
export function recipientHashOf(to: string): string {
  return hashKey([to], 12);
}

/** Undefined when the number may write to that person now. */
export function blockedUntilMs(pace: NumberPace, recipientHash: string, nowMs: number): number | undefined {
  const untilMs = pace.pairs.find((pair) => pair.recipientHash === recipientHash)?.untilMs;
  return untilMs === undefined || untilMs <= nowMs ? undefined : untilMs;
}

/** Remembers a person until a time: at most 100, the oldest entries leave first. A later time of the same person stays. */
export function withBlocked(pace: NumberPace, recipientHash: string, untilMs: number, nowMs: number): NumberPace {
  const known = pace.pairs.find((pair) => pair.recipientHash === recipientHash);
  if (known !== undefined && known.untilMs >= untilMs) return pace;
  const others = pace.pairs.filter((pair) => pair !== known && pair.untilMs > nowMs);
  return { ...pace, pairs: [...others, { recipientHash, untilMs }].slice(-rememberedPairs) };
}
