import type { CallFacts } from '../dispatch/call-facts.ts';
import type { Slice } from '../dispatch/slice.ts';

/**
 * A small request's end must be counted if no receipt will report it (D58): messages taken without receipts are
 * billed; failures count for the client's day and release their reservation.
 */
export function endIsCounted(
  { receiptsExpected }: Pick<CallFacts, 'receiptsExpected'>,
  ended: readonly Slice[],
): boolean {
  const outcomes = ended.flatMap((slice) => slice.outcomes);
  const wasTaken = outcomes.some((outcome) => outcome?.state === 'sent');
  const wasNot = outcomes.some((outcome) => outcome?.state === 'failed' || outcome?.state === 'expired');
  return (receiptsExpected !== true && wasTaken) || wasNot;
}
