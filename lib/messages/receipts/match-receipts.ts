import { forgottenAtMs } from '../items.ts';
import type { JobHead } from '../job.ts';
import type { Receipt, ReceiptMessage } from './receipt.ts';
import { anonymizedReceipt } from './receipt-items.ts';
import type { HeadOfJob, ReceiptsOfJob } from './receipt-ports.ts';

/** A receipt may not count (D39), which is no error: other software may send from the same number. */
export type DropReason = 'unknown_job' | 'job_forgotten' | 'other_number' | 'no_such_recipient';

export interface MatchedReceipts {
  readonly jobs: readonly ReceiptsOfJob[];
  readonly dropped: ReadonlyMap<DropReason, number>;
}

/**
 * Returns receipts that count: for a known job and recipient, from the number that sent. The job decides whose they
 * are. An erased person is removed (D60).
 */
export function matchReceipts(
  numbers: ReceiptMessage['numbers'],
  heads: ReadonlyMap<string, HeadOfJob>,
  nowMs: number,
): MatchedReceipts {
  const dropped = new Map<DropReason, number>();
  const byJob = new Map<string, { readonly head: JobHead; readonly receipts: Receipt[] }>();
  for (const { wabaId, phoneNumberId, receipts } of numbers) {
    for (const receipt of receipts) {
      const head = heads.get(receipt.jobId);
      const reason = whyNot(receipt, head, { wabaId, phoneNumberId, nowMs });
      if (head === undefined || reason !== undefined) {
        dropped.set(reason ?? 'unknown_job', (dropped.get(reason ?? 'unknown_job') ?? 0) + 1);
        continue;
      }
      const counted = head.erased?.has(receipt.index) ? anonymizedReceipt(receipt) : receipt;
      const known = byJob.get(head.jobId);
      if (known === undefined) byJob.set(head.jobId, { head, receipts: [counted] });
      else known.receipts.push(counted);
    }
  }
  return { jobs: [...byJob.values()], dropped };
}

function whyNot(
  { index }: Receipt,
  head: JobHead | undefined,
  sender: { readonly wabaId: string; readonly phoneNumberId: string; readonly nowMs: number },
): DropReason | undefined {
  if (head === undefined) return 'unknown_job';
  if (sender.nowMs >= forgottenAtMs(head)) return 'job_forgotten';
  if (sender.wabaId !== head.wabaId || sender.phoneNumberId !== head.phoneNumberId) return 'other_number';
  if (!Number.isInteger(index) || index < 0 || index >= head.total) return 'no_such_recipient';
  return undefined;
}
