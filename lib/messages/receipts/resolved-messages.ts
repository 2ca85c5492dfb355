import { count } from '../../observe/metrics.ts';
import { messageIdOf } from '../dispatch.ts';
import { isResolved, placeInSlice, type Slice, sliceOf } from '../send/claims/slice.ts';
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
  const found = await slices.findAll(receipts.map(sliceOf));
  const sliceAt = new Map(found.map((slice) => [nameOf(slice.key), slice]));
  const resolved = new Map<string, number>();
  for (const receipt of receipts) {
    // A claimed try, or `again`, is left alone: the claimant, or the next try, reads receipts itself (run-slice.ts).
    const slice = sliceAt.get(nameOf(sliceOf(receipt)));
    const outcome = slice?.outcomes[placeInSlice(receipt.index)];
    const wasUnknown = outcome !== undefined && (outcome.state === 'unknown' || isResolved(outcome));
    if (slice !== undefined && wasUnknown) resolved.set(messageIdOf(receipt), slice.atMs);
  }
  for (const messageId of resolved.keys()) {
    count('MessagesResolved');
    log('receipts.resolved', { messageId });
  }
  return resolved;
}

function nameOf({ dispatchId, slice }: Slice['key']): string {
  return `${dispatchId} ${slice}`;
}
