import { setTimeout } from 'node:timers/promises';

/** Waits before retry number `attempt`, from 1. Stores take it as an argument, so that tests do not wait. */
export type Pause = (attempt: number) => Promise<void>;

/** A store throws after this many retries: about 3 s of waiting with `storePause`. */
export const maxRepetitions = 8;

/**
 * Waits by exponential backoff with full jitter: a random time up to `firstMs`, which doubles with every attempt up to
 * `maxMs`.
 */
export function backoff(firstMs: number, maxMs: number, random: () => number = Math.random): Pause {
  return async (attempt) => {
    await setTimeout(random() * Math.min(maxMs, firstMs * 2 ** (attempt - 1)));
  };
}

/** DynamoDB's conflicts and throttles pass within moments. */
export const storePause: Pause = backoff(50, 2_000);

export async function sleep(ms: number): Promise<void> {
  await setTimeout(ms);
}
