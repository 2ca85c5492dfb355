import type { DispatchHead } from '../dispatch/head.ts';
import { forgottenAtMs } from '../dispatch/items.ts';
import type { Receipt, ReceiptMessage } from './receipt.ts';
import { anonymizedReceipt } from './receipt-items.ts';
import type { HeadOfDispatch, ReceiptsOfDispatch } from './receipt-ports.ts';

/** A receipt may not count (D39), which is no error: other software may send from the same number. */
export type DropReason = 'unknown_dispatch' | 'dispatch_forgotten' | 'other_number' | 'no_such_recipient';

export interface MatchedReceipts {
  readonly dispatches: readonly ReceiptsOfDispatch[];
  readonly dropped: ReadonlyMap<DropReason, number>;
}

/**
 * Returns receipts that count: for a known dispatch and recipient, from the number that sent. The dispatch decides
 * whose they are. An erased person is removed (D60).
 */
export function matchReceipts(
  numbers: ReceiptMessage['numbers'],
  heads: ReadonlyMap<string, HeadOfDispatch>,
  nowMs: number,
): MatchedReceipts {
  const dropped = new Map<DropReason, number>();
  const byDispatch = new Map<string, { readonly head: DispatchHead; readonly receipts: Receipt[] }>();
  for (const { wabaId, phoneNumberId, receipts } of numbers) {
    for (const receipt of receipts) {
      const head = heads.get(receipt.dispatchId);
      const reason = whyNot(receipt, head, { wabaId, phoneNumberId, nowMs });
      if (head === undefined || reason !== undefined) {
        dropped.set(reason ?? 'unknown_dispatch', (dropped.get(reason ?? 'unknown_dispatch') ?? 0) + 1);
        continue;
      }
      const counted = head.erased?.has(receipt.index) ? anonymizedReceipt(receipt) : receipt;
      const known = byDispatch.get(head.dispatchId);
      if (known === undefined) byDispatch.set(head.dispatchId, { head, receipts: [counted] });
      else known.receipts.push(counted);
    }
  }
  return { dispatches: [...byDispatch.values()], dropped };
}

function whyNot(
  { index }: Receipt,
  head: DispatchHead | undefined,
  sender: { readonly wabaId: string; readonly phoneNumberId: string; readonly nowMs: number },
): DropReason | undefined {
  if (head === undefined) return 'unknown_dispatch';
  if (sender.nowMs >= forgottenAtMs(head)) return 'dispatch_forgotten';
  if (sender.wabaId !== head.wabaId || sender.phoneNumberId !== head.phoneNumberId) return 'other_number';
  if (!Number.isInteger(index) || index < 0 || index >= head.total) return 'no_such_recipient';
  return undefined;
}
