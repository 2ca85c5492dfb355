import type { QueuedChunk } from '../chunk.ts';
import type { Slice } from '../dispatch/claims/slice.ts';

/**
 * Whether the end of a straight chunk says something of its cost that no receipt will (D58): what was taken from a number without
 * receipts is billed, and what was not taken gives back what it had reserved of a budget.
 */
export function endChangesCost(
  { receiptsExpected, reservedUnits }: Pick<QueuedChunk, 'receiptsExpected' | 'reservedUnits'>,
  ended: readonly Slice[],
): boolean {
  const outcomes = ended.flatMap((slice) => slice.outcomes);
  const wasTaken = outcomes.some((outcome) => outcome?.state === 'sent');
  const wasNot = outcomes.some((outcome) => outcome?.state === 'failed' || outcome?.state === 'expired');
  return (receiptsExpected !== true && wasTaken) || (reservedUnits !== undefined && wasNot);
}
