import { answerEarlyMs } from '../../http/endpoint.ts';

/** The time before the function's end by which an acceptance must have ended: the edge's own answer would say that it failed. */
export const answerBudgetMs = answerEarlyMs + 500;

/** No write that changes nothing about the answer is waited for longer. */
const sideWriteLimitMs = 2_000;

/**
 * Does a write that may be left out, in what is left before the answer. Rejects as the write does, at the end of its time
 * even if the write goes on, and at once when there is none; the write may take effect nevertheless.
 */
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
