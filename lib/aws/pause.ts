import { setTimeout } from 'node:timers/promises';

/** Waits before attempt number `attempt` (1 = the first repetition). Stores take it as an argument; tests do not wait. */
export type Pause = (attempt: number) => Promise<void>;

/** Repetitions after which a store gives up and throws: about 3 s of waiting in all with `storePause`. */
export const maxRepetitions = 8;

/** Exponential backoff with full jitter: a random time up to `firstMs`, doubling with every attempt up to `maxMs`. */
export function backoff(firstMs: number, maxMs: number, random: () => number = Math.random): Pause {
  return async (attempt) => {
    await setTimeout(random() * Math.min(maxMs, firstMs * 2 ** (attempt - 1)));
  };
}

/** For DynamoDB: conflicts and throttles pass within moments. */
export const storePause: Pause = backoff(50, 2_000);

export async function sleep(ms: number): Promise<void> {
  await setTimeout(ms);
}
