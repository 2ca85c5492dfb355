import { setTimeout as wait } from 'node:timers/promises';

const firstMs = 50;
const longestMs = 1_000;

/** Waits before attempt `attempt + 1`: a random time up to 50 ms, doubled with every attempt, at most a second. */
export function backoff(attempt: number, random: () => number = Math.random): Promise<void> {
  return wait(random() * Math.min(longestMs, firstMs * 2 ** (attempt - 1)));
}
