import { type JobAge, lastOwnCallMs } from '../items.ts';
import type { JobHead } from '../job.ts';
import { afterOpenTimeMs, type Opening } from '../lots.ts';

/** Time-out of one platform call. */
export const platformCallTimeoutMs = 10_000;

/** A send starts only with this much time left: the call's time-out and 3 s to write down what came of it. */
export const sendBudgetMs = platformCallTimeoutMs + 3_000;

/** Longest run of a worker: its configured time-out, after which Lambda kills it. */
export const dispatchTimeoutMs = 60_000;

/** From this age on the owner of a claim is dead: the worker's time-out, and a margin for clocks and late writes. */
export const claimLifeMs = dispatchTimeoutMs + 30_000;

/** Counted from acceptance: later than this nothing is sent, because a claim might already be forgotten. */
const lastSendAfterAcceptanceMs = 28 * 86_400_000;

/** The last moment at which a message of the job may be called at all. */
function lastCallMs(job: JobAge): number {
  return lastOwnCallMs(job) ?? job.acceptedAtMs + lastSendAfterAcceptanceMs;
}

/** Without an expiry of its own, a message that keeps being refused provably unsent is retried this long. */
const retryForMs = 24 * 3_600_000;

/** A message by its age, and the tries that ended provably unsent so far. */
interface Aged extends JobAge, Pick<JobHead, 'expiresAtMs'> {
  readonly attempt: number;
  /** When it may be called, where its send has a time of its own (D56). */
  readonly open?: readonly Opening[] | undefined;
}

/** How a message ends that may no longer be sent. */
export interface Late {
  readonly state: 'expired' | 'failed';
  readonly code: 'expired' | 'retry_deadline';
}

/** The outcome of a message that may no longer be sent, undefined while it may. */
export function lateness(message: Aged, nowMs: number): Late | undefined {
  const { expiresAtMs = Number.POSITIVE_INFINITY } = message;
  if (nowMs >= expiresAtMs) return { state: 'expired', code: 'expired' };
  if (nowMs >= retryDeadlineMs(message)) return { state: 'failed', code: 'retry_deadline' };
  return undefined;
}

/**
 * Until when a message may be tried. A first delivery may come late (a long backlog) and is still sent; only retries end
 * after a day, of which only the time counts in which the message might be called (D56). Neither outlives the claims.
 */
export function retryDeadlineMs(message: Aged): number {
  const { attempt, expiresAtMs, acceptedAtMs, open } = message;
  if (attempt === 0 || expiresAtMs !== undefined) return lastCallMs(message);
  return open === undefined ? acceptedAtMs + retryForMs : afterOpenTimeMs(open, acceptedAtMs, retryForMs);
}
