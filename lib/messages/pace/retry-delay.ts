import { maxDelaySeconds } from '../../aws/queue-body.ts';
import type { CodePace } from '../../platform/failure.ts';

/** A row in lib/platform/error-codes.json has a pace, and so has a failure without a platform code. */
export type Pace = CodePace | 'credential' | 'unreachable' | 'claims';

/**
 * Before a provably unsent message is tried again, backoff takes `firstSeconds`, times `factor` per attempt (platform
 * reference, 4.4 and 6.2).
 */
const waits: Readonly<Record<Pace, { readonly firstSeconds: number; readonly factor: number }>> = {
  /** A number may write to a person every 6 s; the platform asks for 4^X seconds. */
  pair: { firstSeconds: 1, factor: 4 },
  /** The number's messages a second are used up; a bare HTTP 429 counts as that. */
  throughput: { firstSeconds: 1, factor: 2 },
  quota: { firstSeconds: 30, factor: 2 },
  restriction: { firstSeconds: 600, factor: 2 },
  /** The number is being upgraded, for about a minute. */
  maintenance: { firstSeconds: 60, factor: 1 },
  /** The template is being copied to the marketing API, for up to ten minutes. */
  syncing: { firstSeconds: 120, factor: 1 },
  /** The platform refused our credential: an operator must act. */
  credential: { firstSeconds: 120, factor: 2 },
  /** There is no connection, or no readable credential. */
  unreachable: { firstSeconds: 2, factor: 2 },
  /** The claim could not be written. */
  claims: { firstSeconds: 5, factor: 2 },
};

export interface Wait {
  readonly pace: Pace;
  /** This many earlier tries provably sent nothing for this pace's reason. */
  readonly attempt: number;
  readonly retryAfterSeconds?: number;
}

/**
 * Returns seconds until the next try, at most 900: the backoff or the platform's Retry-After, plus up to half as
 * jitter, so that throttled messages do not return together (`random` in [0, 1)).
 */
export function retryDelaySeconds(wait: Wait, random: number): number {
  const { firstSeconds, factor } = waits[wait.pace];
  const seconds = Math.max(firstSeconds * factor ** wait.attempt, wait.retryAfterSeconds ?? 0);
  return Math.min(maxDelaySeconds, Math.ceil(seconds * (1 + random / 2)));
}
