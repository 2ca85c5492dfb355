import type { ReceiptsOfDispatch } from '../receipts/receipt-ports.ts';
import { isSmall } from './count-dispatches.ts';
import type { Statement } from './statement.ts';

export interface CountReceiptsPorts {
  /** Returns statements by dispatch, without dispatches that have none, strongly consistent. */
  readonly stated: (dispatchIds: readonly string[]) => Promise<ReadonlyMap<string, Statement>>;
  readonly count: (dispatchIds: readonly string[]) => Promise<void>;
  readonly countLater: (head: ReceiptsOfDispatch['head']) => Promise<void>;
}

/** Counts cost after receipts were appended (D58): small dispatches at once and together, others later. */
export async function countReceipts(
  dispatches: readonly ReceiptsOfDispatch[],
  ports: CountReceiptsPorts,
): Promise<void> {
  const small = dispatches.filter(({ head }) => isSmall(head));
  const sure = small.filter(isCounted);
  const unsure = small.filter((dispatch) => !isCounted(dispatch));
  const stated = unsure.length === 0 ? undefined : await ports.stated(unsure.map(({ head }) => head.dispatchId));
  const changing = unsure.filter((dispatch) => mayChangeCost(dispatch, stated?.get(dispatch.head.dispatchId)));
  const counted = [...sure, ...changing].map(({ head }) => head.dispatchId);
  await Promise.all([
    counted.length === 0 ? undefined : ports.count(counted),
    ...dispatches.filter(({ head }) => !isSmall(head)).map(({ head }) => ports.countLater(head)),
  ]);
}

/** A failure costs nothing, counts for the client's day, and releases its reservation. */
function isCounted({ receipts }: ReceiptsOfDispatch): boolean {
  return receipts.some(({ status, pricing }) => {
    if (status === 'delivered' || status === 'played' || status === 'failed') return true;
    // Pricing from `read` prevails over that of `sent`, which may be stated.
    return status === 'read' && pricing !== undefined;
  });
}

/**
 * Tells whether receipts that usually follow others change the statement: a read without a delivery, or pricing of
 * `sent` for a delivery without one.
 */
function mayChangeCost({ receipts }: ReceiptsOfDispatch, stated: Statement | undefined): boolean {
  if (stated === undefined) return receipts.some(({ status }) => status === 'read');
  // A count without pricing reads receipts again after its write. This receipt was appended before this read, so one of
  // the two sees the other.
  return !stated.cost.final || stated.cost.basis !== 'platform';
}
