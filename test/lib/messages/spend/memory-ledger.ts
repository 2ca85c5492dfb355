import { omitUndefined } from '../../../../lib/keys/omit-undefined.ts';
import { addressesOfItem, packedAddresses } from '../../../../lib/messages/accept/whole-job.ts';
import type { JobReservation } from '../../../../lib/messages/budget/budgets.ts';
import type { Slice } from '../../../../lib/messages/dispatch/claims/slice.ts';
import { addressesWithout } from '../../../../lib/messages/erase/anonymized-items.ts';
import type { JobHead } from '../../../../lib/messages/job.ts';
import type { JobState } from '../../../../lib/messages/job-state.ts';
import { foldReceipts, type Proven } from '../../../../lib/messages/receipts/fold-receipts.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { anonymizedReceipt } from '../../../../lib/messages/receipts/receipt-items.ts';
import type { DescribedRecipients } from '../../../../lib/messages/report/described-job.ts';
import type { SpendLedger } from '../../../../lib/messages/spend/count-jobs.ts';
import type { CountStep } from '../../../../lib/messages/spend/count-step.ts';
import type { DaySums } from '../../../../lib/messages/spend/spend.ts';
import type { Statement } from '../../../../lib/messages/spend/statement.ts';

interface StoredJob {
  readonly head: JobHead;
  readonly described: DescribedRecipients;
  readonly receipts: Receipt[];
  readonly state?: JobState;
  readonly reserved?: JobReservation;
}

/** A transaction is atomic and has the store's conditions. */
export class MemoryLedger implements SpendLedger {
  readonly jobs = new Map<string, StoredJob>();
  /** These are of the one job that has some. */
  readonly slices = new Map<number, Slice>();
  readonly statements = new Map<string, Statement>();
  readonly sums = new Map<string, Map<string, number>>();
  readonly months = new Map<string, number>();

  add(head: JobHead, to: readonly string[], more: Pick<StoredJob, 'state' | 'reserved'> = {}): void {
    this.jobs.set(head.jobId, { head, described: { recipients: new Map(to.entries()) }, receipts: [], ...more });
  }

  /** Erases recipients as the command does (D60). */
  erase(jobId: string, indexes: ReadonlySet<number>): void {
    const job = this.jobs.get(jobId);
    if (job === undefined) return;
    const { recipients, erasedMarkets = new Map<number, string>() } = job.described;
    const known = Array.from({ length: job.head.total }, (_, index) => {
      return recipients.get(index) ?? { market: erasedMarkets.get(index) ?? '' };
    });
    const before = { firstIndex: 0, recipients: packedAddresses(known) };
    const { addresses, erased } = addressesOfItem({ ...before, ...addressesWithout(before, indexes) });
    const described = { recipients: new Map(addresses), erasedMarkets: new Map(erased) };
    const receipts = job.receipts.map((each) => (indexes.has(each.index) ? anonymizedReceipt(each) : each));
    this.jobs.set(jobId, { ...job, described, receipts });
  }

  async read(jobId: string) {
    const job = this.jobs.get(jobId);
    if (job === undefined) return undefined;
    const { head, described, state = {}, reserved } = job;
    const known = { head, repeats: [], ...described, ...state, ...omitUndefined({ reserved }) };
    return { job: known, statement: this.statements.get(jobId) };
  }

  async readMessages({ jobId }: JobHead) {
    const proofs = new Map<number, Proven>();
    for (const [index, receipts] of Map.groupBy(this.jobs.get(jobId)?.receipts ?? [], (each) => each.index)) {
      const proven = foldReceipts(receipts);
      if (proven !== undefined) proofs.set(index, proven);
    }
    return { slices: this.slices, proofs, askedAtMs: 0 };
  }

  async write({ stated, days, months }: CountStep) {
    if (stated.some(({ job, before }) => this.statements.get(job.jobId)?.version !== before)) return false;
    for (const { job, statement } of stated) this.statements.set(job.jobId, statement);
    for (const [day, sums] of days) {
      const known = this.sums.get(day) ?? new Map<string, number>();
      this.sums.set(day, known);
      for (const [attribute, by] of sums) known.set(attribute, (known.get(attribute) ?? 0) + by);
    }
    for (const [month, by] of months) this.months.set(month, (this.months.get(month) ?? 0) + by);
    return true;
  }

  days(): DaySums[] {
    return [...this.sums].map(([day, sums]) => ({ day, sums: Object.fromEntries(sums) }));
  }
}
