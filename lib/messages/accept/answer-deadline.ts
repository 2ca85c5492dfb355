import { answerEarlyMs } from '../../http/endpoint.ts';

/*
 * An acceptance has one deadline: its answer leaves before the edge would answer with a failure. Each step has half of
 * the time that is left, so that later ones, above all a withdrawal, have time too.
 */

const marginMs = 500;

/** No step takes longer: a client need not wait for a store that is down. */
const longestStepMs = 4_000;

/** An acceptance that has less left hands nothing over. */
export const fewestMs = 8_000;

/** Returns the time until the answer must leave. `remainingMs` is the time until the function's time-out. */
export function untilAnswerMs(remainingMs: () => number): number {
  return remainingMs() - answerEarlyMs - marginMs;
}

/** Does a step before the deadline. The step may take effect even if this rejects. */
export async function inTime<Value>(
  remainingMs: () => number,
  step: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const limitMs = Math.min(longestStepMs, Math.floor(untilAnswerMs(remainingMs) / 2));
  if (limitMs <= 0) throw new RangeError('too little time left');
  const signal = AbortSignal.timeout(limitMs);
  const over = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  return await Promise.race([step(signal), over]);
}
