import { retryAfterMs } from './retry.ts';

/** A receiver answers with a status; otherwise there is a reason why not (`timeout`, `not_public`, ...). */
export type PostAnswer = { readonly status: number; readonly retryAfter?: string } | { readonly fault: string };

export interface Failure {
  readonly kind: 'failed';
  /** The log shows the status or the fault. */
  readonly code: string;
  readonly retryAfterMs?: number;
  /** The receiver reports overload. */
  readonly overloaded: boolean;
}

export type PostResult = { readonly kind: 'delivered' } | { readonly kind: 'gone' } | Failure;

/** Joins concurrent failures into one, with the longest `Retry-After`. */
export function jointFailure(failures: readonly Failure[]): Failure | undefined {
  const [first] = failures;
  if (first === undefined) return undefined;
  const asked = failures.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  return {
    ...first,
    overloaded: failures.some(({ overloaded }) => overloaded),
    ...(asked.length === 0 ? {} : { retryAfterMs: Math.max(...asked) }),
  };
}

const overloadStatuses = new Set([429, 502, 504]);

/**
 * A status of 2xx is success, 410 ends the configuration, and every other status is retried, redirects too (D34, R42).
 */
export function postResultOf(answer: PostAnswer, nowMs: number): PostResult {
  if ('fault' in answer) return { kind: 'failed', code: answer.fault, overloaded: false };
  const { status, retryAfter } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  const wanted = retryAfterMs(retryAfter, nowMs);
  return {
    kind: 'failed',
    code: String(status),
    overloaded: overloadStatuses.has(status),
    retryAfterMs: wanted,
  };
}
