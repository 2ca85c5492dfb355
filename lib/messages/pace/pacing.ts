import { maxDelaySeconds } from '../../aws/queue-body.ts';
import type { CodePace } from '../../platform/failure.ts';

/** Of a row of lib/platform/error-codes.json, or of a failure that has no code of the platform's. */
export type Pace = CodePace | 'credential' | 'unreachable' | 'claims';

/**
 * How long to wait before a message that was provably not sent is tried again: `firstSeconds`, times `factor` per
 * further attempt (platform reference, 4.4 and 6.2).
 */
const waits: Readonly<Record<Pace, { readonly firstSeconds: number; readonly factor: number }>> = {
  /** One number may write to one person every 6 s; the platform asks for 4^X seconds. */
  pair: { firstSeconds: 1, factor: 4 },
  /** Also a bare HTTP 429: messages a second of one number. */
  throughput: { firstSeconds: 1, factor: 2 },
  /** Calls an hour. */
  quota: { firstSeconds: 30, factor: 2 },
  /** Restrictions that last. */
  restriction: { firstSeconds: 600, factor: 2 },
  /** The number is being upgraded, about a minute. */
  maintenance: { firstSeconds: 60, factor: 1 },
  /** The template is still being copied to the marketing API, up to ten minutes. */
  syncing: { firstSeconds: 120, factor: 1 },
  /** Our credential was refused: an operator has to act first. */
  credential: { firstSeconds: 120, factor: 2 },
  /** No connection, or no credential could be read. */
  unreachable: { firstSeconds: 2, factor: 2 },
  /** The claim could not be written. */
  claims: { firstSeconds: 5, factor: 2 },
};

export interface Wait {
  readonly pace: Pace;
  /** Tries that ended provably unsent before this one, for the reason of this pace. */
  readonly attempt: number;
  readonly retryAfterSeconds?: number;
}

/**
 * Seconds until the next try: the pace's wait or the platform's Retry-After, whichever is longer, plus up to half of it
 * so that messages throttled together do not come back together. At most 900 (`random` in [0, 1)).
 */
export function retryDelaySeconds(wait: Wait, random: number): number {
  const { firstSeconds, factor } = waits[wait.pace];
  const seconds = Math.max(firstSeconds * factor ** wait.attempt, wait.retryAfterSeconds ?? 0);
  return Math.min(maxDelaySeconds, Math.ceil(seconds * (1 + random / 2)));
}

/**
 * Seconds until a job whose fan-out failed is tried again, by the deliveries its round has had. A run that was killed comes
 * again within the minute for which it held its delivery; one that failed waits longer each time. The four waits before the
 * queue gives up make two hours together, so that an outage of that length is still outlived.
 */
export function jobRetrySeconds(deliveries: number): number {
  return Math.min(43_200, 30 * 6 ** (deliveries - 1));
}
