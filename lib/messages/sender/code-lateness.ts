import { count } from '../../observe/metrics.ts';
import type { CallFacts } from '../dispatch/call-facts.ts';

/** A code is of little use to a person who waits for it any longer. */
const lateAfterMs = 5_000;

/**
 * Counts the first call for a one-time code of a small request, or its end where its time was over before, and whether
 * it is late (D44). Later tries waited for a hold, or for a killed process.
 */
export function countCode(
  { urgent, lots, acceptedAtMs }: Pick<CallFacts, 'urgent' | 'lots' | 'acceptedAtMs'>,
  { isSmall, isFirst }: { readonly isSmall: boolean; readonly isFirst: boolean },
  nowMs: number,
): void {
  if (urgent !== true || lots !== undefined || !isSmall || !isFirst) return;
  count('CodesCalled');
  if (nowMs - acceptedAtMs > lateAfterMs) count('CodesLate');
}
