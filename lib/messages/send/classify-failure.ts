import { PlatformFailure } from '../../platform/failure.ts';
import type { Pace } from '../pace/retry-delay.ts';

export type FailureClass = {
  readonly settlement: {
    readonly state: 'failed' | 'unknown';
    /** The code may be our own: `retry_deadline`, `no_answer`, `error`. */
    readonly code: string;
    /** The reason is the client's data: stored, never logged. */
    readonly reason?: string;
  };
  /** It is there if the platform's answer proves that nothing was taken. */
  readonly refused?: { readonly code?: number };
} & (
  | { readonly kind: 'retry'; readonly pace: Pace; readonly retryAfterSeconds?: number }
  | { readonly kind: 'settle' }
);

/** The platform's text is cut, so that an item stays small enough to write. */
const longestReason = 1_000;

/**
 * Provably not accepted is retried, a refusal is final, everything else is `unknown` and never resent (R13). A retry's
 * `settlement` applies when its time is over.
 */
export function classifyFailure(error: unknown): FailureClass {
  if (!(error instanceof PlatformFailure)) return { kind: 'settle', settlement: { state: 'unknown', code: 'error' } };
  const { code, userMessage, retryAfterSeconds } = error.facts;
  const reason = { reason: userMessage?.slice(0, longestReason) };
  const refused = error.provesNothingDone ? { refused: { code } } : {};
  const pace = retryPace(error);
  if (pace !== undefined) {
    const settlement = { state: 'failed', code: 'retry_deadline', ...reason } as const;
    return { kind: 'retry', pace, retryAfterSeconds, settlement, ...refused };
  }
  const state = error.provesNothingDone ? 'failed' : 'unknown';
  return { kind: 'settle', settlement: { state, code: codeOf(error), ...reason }, ...refused };
}

function retryPace(failure: PlatformFailure): Pace | undefined {
  if (failure.kind === 'not_sent') return 'unreachable';
  if (failure.pace !== undefined && failure.provesNothingDone) return failure.pace;
  if (failure.credentialRefused) return 'credential';
  return failure.throttled ? 'throughput' : undefined;
}

/** Names a failure in a report: the platform's code, else one of our own. */
export function codeOf({ facts: { code, httpStatus } }: PlatformFailure): string {
  if (code !== undefined) return String(code);
  return httpStatus === undefined ? 'no_answer' : `http_${httpStatus}`;
}
