import type { ReceiptsOfJob } from '../receipts/receipt-ports.ts';
import { isSmall } from './count-jobs.ts';
import type { Statement } from './statement.ts';

export interface CountReceiptsPorts {
  /** Returns statements by job, without jobs that have none, strongly consistent. */
  readonly stated: (jobIds: readonly string[]) => Promise<ReadonlyMap<string, Statement>>;
  readonly count: (jobIds: readonly string[]) => Promise<void>;
  readonly countLater: (head: ReceiptsOfJob['head']) => Promise<void>;
}

/** Counts cost after receipts were appended (D58): small jobs at once and together, others later. */
export async function countReceipts(jobs: readonly ReceiptsOfJob[], ports: CountReceiptsPorts): Promise<void> {
  const small = jobs.filter(({ head }) => isSmall(head));
  const sure = small.filter(isCounted);
  const unsure = small.filter((job) => !isCounted(job));
  const stated = unsure.length === 0 ? undefined : await ports.stated(unsure.map(({ head }) => head.jobId));
  const changing = unsure.filter((job) => mayChangeCost(job, stated?.get(job.head.jobId)));
  const counted = [...sure, ...changing].map(({ head }) => head.jobId);
  await Promise.all([
    counted.length === 0 ? undefined : ports.count(counted),
    ...jobs.filter(({ head }) => !isSmall(head)).map(({ head }) => ports.countLater(head)),
  ]);
}

/** A failure costs nothing, counts for the client's day, and releases its reservation. */
function isCounted({ receipts }: ReceiptsOfJob): boolean {
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
function mayChangeCost({ receipts }: ReceiptsOfJob, stated: Statement | undefined): boolean {
  if (stated === undefined) return receipts.some(({ status }) => status === 'read');
  // A count without pricing reads receipts again after its write. This receipt was appended before this read, so one of
  // the two sees the other.
  return !stated.cost.final || stated.cost.basis !== 'platform';
}
