/*
 * How fast passwords may be guessed (D11, R38), and that nobody can shut somebody else out.
 *
 * An address is an IPv4 address or the /64 of an IPv6 address. For each pair of user name and address there is a record of
 * one day (UTC): how many attempts have started, how many of them were found wrong, and when the last one started. A
 * right login erases it. For each user name the wrong attempts of all addresses are counted by the hour.
 *
 * States of a pair:
 * - clean: no attempt was found wrong. 20 may be under way at once (a fleet of workers behind one address logs in).
 * - free: fewer than 10 have started. The next one may start.
 * - delayed: the next one may start 30 s after the last one that started, then 60 s, doubling up to 15 minutes; one at a
 *   time. An attempt in between is refused, right or wrong, and changes nothing: trying again makes no wait longer.
 *
 * A name is under attack when the running and the last hour have 20 wrong attempts in all, from whatever addresses. Then a
 * clean pair may have 5 under way, only the first attempt of a pair is free, and delays double up to one hour.
 *
 * So the right password from a clean address always gets in, whatever others do. And within a day:
 * - one address has at most 23 guesses at a name in an hour, and 4 in every further hour;
 * - N addresses, one guess after another, have at most 20 + 8N in the first hour and 20 + 2N in every further one; all
 *   firing at once, each as many as one address alone.
 */

/** The day of a pair's record. */
export const recordDaySeconds = 86_400;

/** The hour by which the wrong attempts of a name are counted. */
export const failureHourSeconds = 3_600;

const attackFailures = 20;
const firstDelayMs = 30_000;
const calm = { free: 10, atOnce: 20, longestDelayMs: 900_000 } as const;
const underAttack = { free: 1, atOnce: 5, longestDelayMs: 3_600_000 } as const;

/** What is known of the attempts of a pair since its day began or since it last logged in. */
export interface PairRecord {
  /** Attempts whose password was looked at, or is just now. */
  readonly started: number;
  /** Those among them that were found wrong. */
  readonly failures: number;
  readonly lastStartedMs: number;
}

export interface AttemptHistory {
  readonly pair: PairRecord | undefined;
  /** Wrong attempts of the name in the running and the last hour, from all addresses. */
  readonly nameFailures: number;
}

/** On what condition an attempt may start; whatever of it holds suffices. The record decides at the moment of the write. */
export interface Turn {
  /** Fewer than these have started. */
  readonly free: number;
  /** Fewer than these have started and none of them failed. */
  readonly atOnce: number;
  /** Exactly so many have started, and the delay after the last of them is over. */
  readonly afterDelayOf: number | undefined;
}

/** On what condition an attempt may start now. */
export function turnOf({ pair, nameFailures }: AttemptHistory, nowMs: number): Turn {
  const { free, atOnce, longestDelayMs } = nameFailures >= attackFailures ? underAttack : calm;
  if (pair === undefined || pair.started < free) return { free, atOnce, afterDelayOf: undefined };
  const delayMs = Math.min(firstDelayMs * 2 ** (pair.started - free), longestDelayMs);
  const isOver = nowMs >= pair.lastStartedMs + delayMs;
  return { free, atOnce, afterDelayOf: isOver ? pair.started : undefined };
}
