import type { DispatchHead } from '../dispatch/head.ts';
import { type DispatchAge, lastOwnCallMs } from '../dispatch/items.ts';
import { afterOpenTimeMs, type Opening } from '../dispatch/lots.ts';

export const platformCallTimeoutMs = 10_000;

/** A send starts only with this much time left: the call's timeout and 3 s to record the outcome. */
export const sendBudgetMs = platformCallTimeoutMs + 3_000;

/** Lambda kills a sender's process after this time, and a worker of small requests earlier. */
export const dispatchTimeoutMs = 120_000;

/** The owner of an older claim is dead: a sender's time-out, with a margin for clocks and late writes. */
export const claimLifeMs = dispatchTimeoutMs + 30_000;

/** Nothing is sent this long after acceptance, because a claim might already be forgotten. */
const lastSendAfterAcceptanceMs = 28 * 86_400_000;

function lastCallMs(dispatch: DispatchAge): number {
  return lastOwnCallMs(dispatch) ?? dispatch.acceptedAtMs + lastSendAfterAcceptanceMs;
}

/** Provably unsent messages without an expiry of their own are retried this long. */
const retryForMs = 24 * 3_600_000;

interface Aged extends Pick<DispatchHead, 'expiresAtMs' | keyof DispatchAge> {
  readonly attempt: number;
  /** A scheduled send has openings (D56). */
  readonly open?: readonly Opening[] | undefined;
}

export interface Late {
  readonly state: 'expired' | 'failed';
  readonly code: 'expired' | 'retry_deadline';
}

/** Returns undefined while the message may be sent. */
export function lateness(message: Aged, nowMs: number): Late | undefined {
  const { expiresAtMs = Number.POSITIVE_INFINITY } = message;
  if (nowMs >= expiresAtMs) return { state: 'expired', code: 'expired' };
  if (nowMs >= retryDeadlineMs(message)) return { state: 'failed', code: 'retry_deadline' };
  return undefined;
}

/**
 * A first delivery may be late (a long backlog) and is still sent. Retries end after a day of open time (D56). Neither
 * outlives the claims.
 */
export function retryDeadlineMs(message: Aged): number {
  const { attempt, expiresAtMs, acceptedAtMs, open } = message;
  if (attempt === 0 || expiresAtMs !== undefined) return lastCallMs(message);
  return open === undefined ? acceptedAtMs + retryForMs : afterOpenTimeMs(open, acceptedAtMs, retryForMs);
}
