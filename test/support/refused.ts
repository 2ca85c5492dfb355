import { Refusal } from '../../lib/http/refusal.ts';

/** Returns the refusal that a function throws. Throws when there is none, or for another error. */
export function refused(decide: () => unknown): Refusal {
  try {
    decide();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** Returns the refusal of an asynchronous function, as `refused`. */
export async function refusedLater(decide: () => Promise<unknown>): Promise<Refusal> {
  try {
    await decide();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
