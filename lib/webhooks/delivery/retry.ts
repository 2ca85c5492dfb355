import { maxDelaySeconds } from '../../aws/queue-body.ts';

/**
 * Attempts are this many seconds apart. Even with the greatest negative jitter, the last attempt comes more than 27
 * hours after the first (D34).
 */
export const retryWaitsSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 61_200];
export const maxAttempts = retryWaitsSeconds.length + 1;

/** Jitter changes a wait by at most this share. */
export const retryJitter = 0.2;
const maxRetryAfterMs = 12 * 3_600_000;

/** An event waits no longer than this for its last attempt, with pauses and a busy receiver; then it is abandoned. */
export const deliveryLimitMs = 5 * 24 * 3_600_000;

export interface FailedAttempt {
  /** This many attempts were made, the present one included. */
  readonly attempts: number;
  readonly nowMs: number;
  readonly retryAfterMs?: number;
}

/**
 * Returns when the next attempt is due; undefined after the last one. The schedule has jitter of +-20 % by `random` in
 * [0, 1). A later `Retry-After` wins, up to 12 hours.
 */
export function nextDueMs({ attempts, nowMs, retryAfterMs = 0 }: FailedAttempt, random: number): number | undefined {
  const seconds = retryWaitsSeconds[attempts - 1];
  if (seconds === undefined) return undefined;
  return nowMs + Math.max(Math.ceil(seconds * 1_000 * (1 + retryJitter * (2 * random - 1))), retryAfterMs);
}

/**
 * Returns the delay of a wake for `atMs`: at least 1 s, because it is noted after it was sent, and at most SQS's
 * maximum.
 */
export function wakeDelaySeconds(atMs: number, nowMs: number): number {
  return Math.min(maxDelaySeconds, Math.max(1, Math.ceil((atMs - nowMs) / 1_000)));
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads a `Retry-After`, in seconds or as an HTTP date: milliseconds, at most 12 hours, or undefined if unreadable. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  let ms = Number.NaN;
  if (/^\d+$/.test(text)) ms = Number(text) * 1_000;
  else if (httpDate.test(text)) ms = Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(maxRetryAfterMs, Math.max(0, ms));
}
