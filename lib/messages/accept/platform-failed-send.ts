import { Refusal } from '../../http/refusal.ts';
import { count } from '../../observe/metrics.ts';

/**
 * Runs a send and counts it when the platform alone is why it is refused with 502: the objective of acceptance does not
 * take that for an error of ours (infra/constructs/objectives.ts). Throws what the send throws.
 */
export async function countingPlatformFailure<Result>(send: () => Promise<Result>): Promise<Result> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof Refusal && error.isOfPlatform) count('SendsFailedByPlatform');
    throw error;
  }
}
