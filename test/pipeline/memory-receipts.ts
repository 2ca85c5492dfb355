import { dispatchIdOf, type JobHead } from '../../lib/messages/job.ts';
import type { Receipt } from '../../lib/messages/receipts/receipt.ts';
import type { ReceiptPorts } from '../../lib/messages/receipts/receipt-ports.ts';
import type { MemoryDoubts, MemorySlices } from './memory-slices.ts';
import type { Run } from './runs.ts';

/** The stores that a run of receipts shares with the workers. */
interface Beside {
  readonly heads: ReadonlyMap<string, JobHead>;
  readonly doubts: MemoryDoubts;
  readonly slices: MemorySlices;
}

/** The receipts of the messages table, for any number of jobs and runs. */
export class MemoryReceipts {
  readonly #beside: Beside;
  readonly #receipts = new Map<string, Receipt[]>();

  constructor(beside: Beside) {
    this.#beside = beside;
  }

  of(jobId: string, index: number): readonly Receipt[] {
    return this.#receipts.get(dispatchIdOf({ jobId, index })) ?? [];
  }

  ofRun(run: Run): Pick<ReceiptPorts, 'records' | 'slices' | 'addressesOf'> {
    const { heads, doubts, slices } = this.#beside;
    return {
      records: {
        findHeads: (jobIds) =>
          run.call('findHeads', () => {
            return new Map(jobIds.flatMap((id) => (heads.has(id) ? [[id, heads.get(id) as JobHead]] : [])));
          }),
        append: ({ jobId }, receipts) => run.call('append', () => this.#append(jobId, receipts)),
        doubtfulJobs: (jobIds) =>
          run.call('doubtfulJobs', () => new Set(jobIds.filter((jobId) => doubts.doubtful.has(jobId)))),
        ofGroup: (jobId) =>
          run.call('ofGroup', () => [...this.#receipts.values()].flat().filter((each) => each.jobId === jobId)),
      },
      slices: {
        findAll: (keys) => run.call('findSlices', () => keys.flatMap((key) => slices.find(key) ?? [])),
        settle: slices.ofRun(run).settle,
      },
      addressesOf: async () => new Map(),
    };
  }

  #append(jobId: string, receipts: readonly Receipt[]): void {
    const indexes = this.#beside.doubts.receipts.get(jobId) ?? new Set();
    this.#beside.doubts.receipts.set(jobId, indexes);
    for (const receipt of receipts) {
      indexes.add(receipt.index);
      this.#receipts.set(dispatchIdOf(receipt), [...this.of(jobId, receipt.index), receipt]);
    }
  }
}
