import { count } from '../../observe/metrics.ts';
import { messageIdOf } from '../dispatch/head.ts';
import { isResolved, sliceOf, sliceSize } from '../dispatch/slice.ts';
import type { Receipt } from './receipt.ts';
import type { ReceiptPorts } from './receipt-ports.ts';

/**
 * Returns the messages of these receipts that had ended `unknown`, each with the time of its try: they are told as
 * resolved (D39). Writes nothing, because readers fold the receipts.
 */
export async function resolvedMessages(
  receipts: readonly Receipt[],
  { slices, log }: Pick<ReceiptPorts, 'slices' | 'log'>,
): Promise<ReadonlyMap<string, number>> {
  if (receipts.length === 0) return new Map();
  const asked = new Set(receipts.map(messageIdOf));
  const resolved = new Map<string, number>();
  for (const { key, atMs, outcomes } of await slices.findAll(receipts.map(sliceOf))) {
    for (const [place, outcome] of outcomes.entries()) {
      // A claimed try, or `again`, is left alone: the claimant, or the next try, reads receipts itself (run-slice.ts).
      const wasUnknown = outcome !== undefined && (outcome.state === 'unknown' || isResolved(outcome));
      const messageId = messageIdOf({ dispatchId: key.dispatchId, index: key.slice * sliceSize + place });
      if (wasUnknown && asked.has(messageId)) resolved.set(messageId, atMs);
    }
  }
  for (const messageId of resolved.keys()) {
    count('MessagesResolved');
    log('receipts.resolved', { messageId });
  }
  return resolved;
}
