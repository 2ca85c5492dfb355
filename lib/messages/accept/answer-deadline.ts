import { answerEarlyMs } from '../../http/endpoint.ts';

/** An acceptance ends this long before the function's timeout: after that the edge would answer with a failure. */
export const answerBudgetMs = answerEarlyMs + 500;

/** A write that does not change the answer may take this long. */
const sideWriteLimitMs = 2_000;

/** Does an optional write in the time left before the answer. It may take effect even if this rejects. */
export async function inTimeLeft(
  remainingMs: () => number,
  write: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const limitMs = Math.min(sideWriteLimitMs, remainingMs() - answerBudgetMs);
  if (limitMs <= 0) throw new RangeError('too little time left');
  const signal = AbortSignal.timeout(limitMs);
  const over = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  await Promise.race([write(signal), over]);
}
