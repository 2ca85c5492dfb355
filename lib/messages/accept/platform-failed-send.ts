import { Refusal } from '../../http/refusal.ts';
import { count } from '../../observe/metrics.ts';

/**
 * Counts a 502 that the platform alone caused, which the objective of acceptance excludes
 * (infra/constructs/objectives.ts). Throws what `send` throws.
 */
export async function countingPlatformFailure<Result>(send: () => Promise<Result>): Promise<Result> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof Refusal && error.isOfPlatform) count('SendsFailedByPlatform');
    throw error;
  }
}
