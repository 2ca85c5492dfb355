import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventSink, WantedEvents } from '../../webhooks/event.ts';
import type { Slice, SliceKey } from '../dispatch/claims/slice.ts';
import type { Slices } from '../dispatch/claims/slice-store.ts';
import type { HoldsOfWabas } from '../holds/hold-store.ts';
import type { InboundSink } from '../inbound/inbound-message.ts';
import type { JobHead } from '../job.ts';
import type { Receipt } from './receipt.ts';

/** The head of a job, and whom of it the operator has erased, by index (D60). */
export type HeadOfJob = JobHead & { readonly erased?: ReadonlySet<number> };

/** Receipts that count, of one job. */
export interface ReceiptsOfJob {
  readonly head: JobHead;
  readonly receipts: readonly Receipt[];
}

/** The messages table as a run of receipts sees it. Every read is strongly consistent, every write may be repeated. */
export interface ReceiptRecords {
  /** By job id, without the jobs that there are not (any more). */
  findHeads(jobIds: readonly string[]): Promise<ReadonlyMap<string, HeadOfJob | 'unreadable'>>;
  append(head: JobHead, receipts: readonly Receipt[]): Promise<void>;
  doubtfulJobs(jobIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** All receipts of one group of a job's messages. */
  ofGroup(jobId: string, group: number): Promise<readonly Receipt[]>;
}

/** The slices as a run of receipts sees them. */
export interface ProvenSlices extends Pick<Slices, 'settle'> {
  /** Those that there are, in no order; strongly consistent. */
  findAll(keys: readonly SliceKey[]): Promise<readonly Slice[]>;
}

/** For whom messages are, by dispatch id; one whose job is not described is left out. Strongly consistent. */
export type AddressesOf = (
  messages: readonly Pick<Receipt, 'jobId' | 'index'>[],
) => Promise<ReadonlyMap<string, string>>;

export interface ReceiptPorts {
  readonly records: ReceiptRecords;
  readonly slices: ProvenSlices;
  readonly addressesOf: AddressesOf;
  readonly changeHolds: HoldsOfWabas['change'];
  readonly wanted: WantedEvents;
  readonly events: EventSink;
  /** Counts what appended receipts change of the cost of their jobs, or has it counted later (D58). May be repeated. */
  readonly countCost: (jobs: readonly ReceiptsOfJob[]) => Promise<void>;
  /** Where is told whom the platform refuses marketing to (D55). */
  readonly inbound: InboundSink;
  readonly nowMs: () => number;
  /** How long this invocation may still work. */
  readonly remainingMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}
