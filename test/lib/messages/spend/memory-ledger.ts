import type { JobHead } from '../../../../lib/messages/job.ts';
import { foldReceipts, type Proven } from '../../../../lib/messages/receipts/fold-receipts.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import type { SpendLedger } from '../../../../lib/messages/spend/count-jobs.ts';
import type { CountStep } from '../../../../lib/messages/spend/count-step.ts';
import type { DaySums } from '../../../../lib/messages/spend/spend.ts';
import type { Statement } from '../../../../lib/messages/spend/statement.ts';

/** A transaction is atomic and has the store's conditions. */
export class MemoryLedger implements SpendLedger {
  readonly jobs = new Map<
    string,
    { readonly head: JobHead; readonly to: readonly string[]; readonly receipts: Receipt[] }
  >();
  readonly statements = new Map<string, Statement>();
  readonly sums = new Map<string, Map<string, number>>();
  readonly months = new Map<string, number>();

  async read(jobId: string) {
    const job = this.jobs.get(jobId);
    if (job === undefined) return undefined;
    const recipients = new Map(job.to.entries());
    return { job: { head: job.head, repeats: [], recipients }, statement: this.statements.get(jobId) };
  }

  async readMessages({ jobId }: JobHead) {
    const proofs = new Map<number, Proven>();
    for (const [index, receipts] of Map.groupBy(this.jobs.get(jobId)?.receipts ?? [], (each) => each.index)) {
      const proven = foldReceipts(receipts);
      if (proven !== undefined) proofs.set(index, proven);
    }
    return { slices: new Map(), proofs, askedAtMs: 0 };
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
