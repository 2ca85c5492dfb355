import type { BatchRecord, Claim, DispatchKey, Settlement } from '../../lib/messages/dispatch/claim.ts';
import type { Claims, Doubts } from '../../lib/messages/dispatch/dispatch-ports.ts';
import { receiptGroupOf } from '../../lib/messages/items.ts';
import { dispatchIdOf, type JobHead } from '../../lib/messages/job.ts';
import type { Receipt } from '../../lib/messages/receipts/receipt.ts';
import type { ReceiptRecords } from '../../lib/messages/receipts/receipt-ports.ts';
import type { ProvenClaims } from '../../lib/messages/receipts/record-ports.ts';
import type { Run } from './runs.ts';

/** The claims, batch records, doubts and receipts of the messages table, for any number of runs. */
export class MemoryClaims {
  readonly claims = new Map<string, Claim>();
  readonly heads = new Map<string, JobHead>();
  readonly #batches = new Map<string, BatchRecord>();
  readonly #doubtful = new Set<string>();
  readonly #receipts = new Map<string, Map<string, Receipt>>();

  /** As the dispatch worker sees them. */
  ofDispatch(run: Run): { readonly claims: Claims; readonly doubts: Doubts } {
    return {
      claims: {
        take: (claim) => run.call('take', () => this.#take(claim)),
        release: (key, at) => run.call('release', () => this.#release(key, at)),
        settle: (key, at, settlement) => run.call('settle', () => this.#settle(key, at, settlement)),
        findBatchRecord: (invocation) => run.call('findBatchRecord', () => this.#batches.get(invocation)),
        recordBatch: (invocation, taken) =>
          run.call('recordBatch', () => {
            this.#batches.set(invocation, taken);
          }),
      },
      doubts: {
        mark: ({ jobId }) => run.call('mark', () => void this.#doubtful.add(jobId)),
        hasReceipt: (key) => run.call('hasReceipt', () => this.#receipts.has(dispatchIdOf(key))),
      },
    };
  }

  /** As a run of receipts sees them. */
  ofReceipts(run: Run): { readonly records: ReceiptRecords; readonly claims: ProvenClaims } {
    return {
      records: {
        findHeads: (jobIds) =>
          run.call('findHeads', () => {
            return new Map(jobIds.flatMap((id) => (this.heads.has(id) ? [[id, this.heads.get(id) as JobHead]] : [])));
          }),
        append: (_, receipts) => run.call('append', () => this.#append(receipts)),
        doubtfulJobs: (jobIds) =>
          run.call('doubtfulJobs', () => new Set(jobIds.filter((id) => this.#doubtful.has(id)))),
        ofGroup: (jobId, group) =>
          run.call('ofGroup', () =>
            [...this.#receipts.values()]
              .flatMap((each) => [...each.values()])
              .filter((receipt) => receipt.jobId === jobId && receiptGroupOf(receipt.index) === group),
          ),
      },
      claims: {
        take: (claim) => run.call('take', () => this.#take(claim)),
        findClaims: (keys) => run.call('findClaims', () => found(this.claims, keys.map(dispatchIdOf))),
        findBatchRecords: (invocations) => run.call('findBatchRecords', () => found(this.#batches, invocations)),
        settleSeen: (seen, settlement) =>
          run.call('settleSeen', () => {
            const id = dispatchIdOf(seen.key);
            const claim = this.claims.get(id);
            if (claim?.at !== seen.at || claim.state !== seen.state) return false;
            const { reason: _, ...rest } = claim;
            this.claims.set(id, { ...rest, ...settlement } as Claim);
            return true;
          }),
      },
    };
  }

  receiptsOf(dispatchId: string): Receipt[] {
    return [...(this.#receipts.get(dispatchId)?.values() ?? [])];
  }

  batchOf(invocation: string): BatchRecord | undefined {
    return this.#batches.get(invocation);
  }

  #take(claim: Claim): Claim | undefined {
    const id = dispatchIdOf(claim.key);
    const existing = this.claims.get(id);
    if (existing === undefined) this.claims.set(id, claim);
    return existing;
  }

  #release(key: DispatchKey, at: string): void {
    const claim = this.claims.get(dispatchIdOf(key));
    if (claim?.at === at && claim.state === 'claimed') this.claims.delete(dispatchIdOf(key));
  }

  #settle(key: DispatchKey, at: string, settlement: Settlement): boolean {
    const claim = this.claims.get(dispatchIdOf(key));
    const settledSo = claim?.state === settlement.state && claim.code === settlement.code;
    if (claim?.at !== at || !(claim.state === 'claimed' || settledSo)) return false;
    this.claims.set(dispatchIdOf(key), { ...claim, ...settlement });
    return true;
  }

  #append(receipts: readonly Receipt[]): void {
    for (const receipt of receipts) {
      const id = dispatchIdOf(receipt);
      const known = this.#receipts.get(id) ?? new Map<string, Receipt>();
      known.set(JSON.stringify(receipt), receipt);
      this.#receipts.set(id, known);
    }
  }
}

function found<T>(map: ReadonlyMap<string, T>, keys: readonly string[]): Map<string, T> {
  return new Map(keys.flatMap((key) => (map.has(key) ? [[key, map.get(key) as T]] : [])));
}
