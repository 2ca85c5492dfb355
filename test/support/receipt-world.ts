import { dispatchIdOf, type JobHead } from '../../lib/messages/job.ts';
import type { Receipt } from '../../lib/messages/receipts/receipt.ts';
import type { ReceiptPorts } from '../../lib/messages/receipts/receipt-ports.ts';
import { type Slice, type SliceKey, settled } from '../../lib/messages/slices/slice.ts';
import type { LogFacts } from '../../lib/observe/log.ts';
import { defaultEventTypes } from '../../lib/webhooks/event.ts';
import { MemoryEvents } from './memory-events.ts';
import { MemoryHolds } from './memory-holds.ts';

/** Everything around a run of receipts, in memory, with a clock that only the test moves. */
export class ReceiptWorld {
  nowMs = 1_800_000_000_000;
  readonly receipts: Record<string, Receipt[]> = {};
  readonly doubtful = new Set<string>();
  readonly slices = new Map<string, Slice>();
  /** By dispatch id. */
  readonly addresses = new Map<string, string>();
  /** Calls of the table, but for those that read heads. */
  readonly calls: string[] = [];
  readonly events = new MemoryEvents();
  readonly holds = new MemoryHolds(() => this.nowMs);
  readonly logged: { readonly event: string; readonly facts: LogFacts }[] = [];

  put(...slices: readonly Slice[]): void {
    for (const slice of slices) this.slices.set(nameOf(slice.key), slice);
  }

  at(key: SliceKey): Slice | undefined {
    return this.slices.get(nameOf(key));
  }

  /** The ports of a run about the jobs of these heads; everybody is told what is told by default. */
  ports(heads: readonly JobHead[], changes: Partial<ReceiptPorts> = {}): ReceiptPorts {
    return {
      records: {
        findHeads: async (jobIds) =>
          new Map(heads.filter(({ jobId }) => jobIds.includes(jobId)).map((head) => [head.jobId, head])),
        append: async (_, receipts) => {
          this.calls.push('append');
          for (const receipt of receipts) this.append(receipt);
        },
        doubtfulJobs: async (jobIds) => {
          this.calls.push('doubtfulJobs');
          return new Set(jobIds.filter((jobId) => this.doubtful.has(jobId)));
        },
        ofGroup: async (jobId) => {
          this.calls.push('ofGroup');
          return Object.values(this.receipts)
            .flat()
            .filter((receipt) => receipt.jobId === jobId);
        },
      },
      slices: {
        findAll: async (keys) => {
          this.calls.push('findAll');
          return keys.flatMap((key) => this.at(key) ?? []);
        },
        settle: async (seen, settlements, atMs) => {
          this.calls.push('settle');
          const existing = this.at(seen.key);
          const next = existing?.version === seen.version ? settled(existing, settlements, atMs) : undefined;
          if (next !== undefined) this.put(next);
          return next;
        },
      },
      addressesOf: async (messages) => {
        this.calls.push('addressesOf');
        const ids = messages.map(dispatchIdOf);
        return new Map([...this.addresses].filter(([dispatchId]) => ids.includes(dispatchId)));
      },
      changeHolds: (wabaId, rule) => {
        this.calls.push('changeHolds');
        return this.holds.change(wabaId, rule);
      },
      wanted: async () => defaultEventTypes,
      events: this.events,
      nowMs: () => this.nowMs,
      remainingMs: () => 60_000,
      log: (event, facts) => void this.logged.push({ event, facts }),
      ...changes,
    };
  }

  /** What is appended again is there once. */
  private append(receipt: Receipt): void {
    const dispatchId = dispatchIdOf(receipt);
    const known = this.receipts[dispatchId] ?? [];
    const isKnown = known.some((each) => JSON.stringify(each) === JSON.stringify(receipt));
    this.receipts[dispatchId] = isKnown ? known : [...known, receipt];
  }
}

function nameOf({ jobId, slice }: SliceKey): string {
  return `${jobId} ${slice}`;
}
