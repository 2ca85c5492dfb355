import type { ReceiptsOfJob } from '../receipts/receipt-ports.ts';
import { isSmall } from './count-jobs.ts';
import type { Statement } from './statement.ts';

export interface CountReceiptsPorts {
  /** What is stated of jobs, without those of which nothing is; strongly consistent. */
  readonly stated: (jobIds: readonly string[]) => Promise<ReadonlyMap<string, Statement>>;
  readonly count: (jobIds: readonly string[]) => Promise<void>;
  readonly countLater: (head: ReceiptsOfJob['head']) => Promise<void>;
}

/**
 * What follows from appended receipts for the cost of their jobs (D58). Jobs of up to ten recipients are counted at once, those
 * of a run together; of others a count comes later.
 */
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

/** A failure costs nothing, counts for its client's day, and gives back what was reserved of a budget. */
function isCounted({ receipts }: ReceiptsOfJob): boolean {
  return receipts.some(({ status, pricing }) => {
    if (status === 'delivered' || status === 'played' || status === 'failed') return true;
    // A price that was told with `read` goes before that of `sent`, which may be stated.
    return status === 'read' && pricing !== undefined;
  });
}

/**
 * Whether receipts that mostly follow from others change what is stated. A message that was read counts as delivered where that was
 * not told. The price of one that was sent counts where its delivery was told without one: who counts such a delivery looks at
 * the receipts once more after its write, and this here was appended before it was asked what is stated, so one of the two sees
 * the other.
 */
function mayChangeCost({ receipts }: ReceiptsOfJob, stated: Statement | undefined): boolean {
  if (stated === undefined) return receipts.some(({ status }) => status === 'read');
  return !stated.cost.final || stated.cost.basis !== 'platform';
}
