import { setTimeout } from 'node:timers/promises';

/** Waits before attempt number `attempt` (1 = the first repetition). Stores take it as an argument; tests do not wait. */
export type Pause = (attempt: number) => Promise<void>;

/** Repetitions after which a store gives up and throws: about 6 s in all with `jitteredPause`. */
export const maxRepetitions = 8;

/** Exponential backoff with full jitter: a random time up to 50 ms, doubling with every attempt up to 2 s. */
export function backoffMs(attempt: number, random: number): number {
  return random * Math.min(2_000, 50 * 2 ** (attempt - 1));
}

export const jitteredPause: Pause = async (attempt) => {
  await setTimeout(backoffMs(attempt, Math.random()));
};
