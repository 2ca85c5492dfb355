/*
 * The throttle slows password guesses (D11, R38). A clean address always gets in with the right password, so that no
 * attacker can lock a user out.
 */

/**
 * A pair is a user name and an address: an IPv4 address or a /64 of IPv6. Its record lasts one day (UTC) or until a
 * right login.
 */
export const recordDaySeconds = 86_400;

export const failureHourSeconds = 3_600;

/** A name is under attack from 20 wrong attempts in the running and the last hour, from all addresses. */
const attackFailures = 20;
const firstDelayMs = 30_000;
/**
 * One address guesses 23 times in a day's first hour, and 4 in each further one. N addresses in turn guess 20 + 8N
 * times, then 20 + 2N an hour; all at once guess each like one alone.
 */
const calm = { free: 10, atOnce: 20, longestDelayMs: 900_000 } as const;
const underAttack = { free: 1, atOnce: 5, longestDelayMs: 3_600_000 } as const;

/** A pair has made these attempts since the day began or its last login. */
export interface PairRecord {
  /** The password of these attempts was checked, or is being checked. */
  readonly started: number;
  readonly failures: number;
  readonly lastStartedMs: number;
}

export interface AttemptHistory {
  readonly pair: PairRecord | undefined;
  readonly nameFailures: number;
}

/** An attempt may start on any of these conditions. The conditional write decides. */
export interface AttemptConditions {
  /** An attempt is free while fewer than these have started. */
  readonly free: number;
  /** A clean pair, such as workers behind one address, has fewer started and none failed. */
  readonly atOnce: number;
  /** An attempt is delayed when exactly this many have started, and the backoff after the last one is over. */
  readonly afterDelayOf: number | undefined;
}

/**
 * Returns the conditions for an attempt now. The backoff doubles with each attempt that started. A refused attempt
 * changes nothing, so that retries prolong no wait.
 */
export function attemptConditions({ pair, nameFailures }: AttemptHistory, nowMs: number): AttemptConditions {
  const { free, atOnce, longestDelayMs } = nameFailures >= attackFailures ? underAttack : calm;
  if (pair === undefined || pair.started < free) return { free, atOnce, afterDelayOf: undefined };
  const delayMs = Math.min(firstDelayMs * 2 ** (pair.started - free), longestDelayMs);
  const isOver = nowMs >= pair.lastStartedMs + delayMs;
  return { free, atOnce, afterDelayOf: isOver ? pair.started : undefined };
}
