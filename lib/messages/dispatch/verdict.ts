import { present } from '../../keys/present.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import type { Pace } from '../pace/pacing.ts';

/** How a message ends that the platform did not take, or may not have taken. */
interface Settlement {
  readonly state: 'failed' | 'unknown';
  /** The platform's error code, or a word of ours: `retry_deadline`, `no_answer`, `error`. */
  readonly code: string;
  /** The platform's text for people. The client's data: stored, never logged. */
  readonly reason?: string;
}

/** What to do about a platform call that did not succeed. */
export type Verdict =
  | {
      readonly kind: 'retry';
      readonly pace: Pace;
      readonly retryAfterSeconds?: number;
      readonly settlement: Settlement;
    }
  | {
      readonly kind: 'settle';
      readonly settlement: Settlement;
      /** The platform's code where it proves that nothing was taken: none of an answer that leaves it open. */
      readonly refusedCode?: number;
    };

/** Characters of the platform's text that are kept: it must not be what makes an item too large to write. */
const longestReason = 1_000;

/**
 * Sorts a failure (R13): provably not accepted is retried; a refusal is final; everything else,
 * an error of ours included, is unknown and never sent again. `settlement` of a retry is how the message ends when no
 * time is left for another try.
 */
export function verdictOn(error: unknown): Verdict {
  if (!(error instanceof PlatformFailure)) return { kind: 'settle', settlement: { state: 'unknown', code: 'error' } };
  const { code, userMessage, retryAfterSeconds } = error.facts;
  const reason = present({ reason: userMessage?.slice(0, longestReason) });
  const pace = retryPace(error);
  if (pace !== undefined) {
    return {
      kind: 'retry',
      pace,
      ...present({ retryAfterSeconds }),
      settlement: { state: 'failed', code: 'retry_deadline', ...reason },
    };
  }
  const refused = isFinalRefusal(error);
  return {
    kind: 'settle',
    settlement: { state: refused ? 'failed' : 'unknown', code: codeOf(error, code), ...reason },
    ...present({ refusedCode: refused ? code : undefined }),
  };
}

/**
 * 131057 says "number unavailable, nothing was taken" although it travels as HTTP 500, so the code decides there; every
 * other 5xx is ambiguous whatever its code says.
 */
function retryPace(failure: PlatformFailure): Pace | undefined {
  if (failure.kind === 'not_sent') return 'unreachable';
  const { pace } = failure;
  if (pace !== undefined && (failure.kind === 'refused' || pace === 'maintenance')) return pace;
  if (failure.credentialRefused) return 'credential';
  return failure.throttled ? 'throughput' : undefined;
}

/** Codes 1, 2, 131000, 131016, 133004 mean "we do not know either": no proof that nothing was sent, at any HTTP status. */
function isFinalRefusal(failure: PlatformFailure): boolean {
  return failure.kind === 'refused' && failure.advice !== 'backoff';
}

function codeOf(failure: PlatformFailure, code: number | undefined): string {
  if (code !== undefined) return String(code);
  return failure.facts.httpStatus === undefined ? 'no_answer' : `http_${failure.facts.httpStatus}`;
}
