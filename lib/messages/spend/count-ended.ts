import type { QueuedChunk } from '../chunk.ts';
import type { Slice } from '../dispatch/claims/slice.ts';

/**
 * Whether the end of a straight chunk says something that no receipt will (D58): what was taken from a number without receipts is
 * billed; what was not taken counts for its client's day, and gives back what it had reserved of a budget.
 */
export function endIsCounted(
  { receiptsExpected }: Pick<QueuedChunk, 'receiptsExpected'>,
  ended: readonly Slice[],
): boolean {
  const outcomes = ended.flatMap((slice) => slice.outcomes);
  const wasTaken = outcomes.some((outcome) => outcome?.state === 'sent');
  const wasNot = outcomes.some((outcome) => outcome?.state === 'failed' || outcome?.state === 'expired');
  return (receiptsExpected !== true && wasTaken) || wasNot;
}
