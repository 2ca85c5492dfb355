import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventSink, WantedEvents } from '../../webhooks/event.ts';
import type { BatchRecord, Claim, DispatchKey, provenByReceipt } from '../dispatch/claim.ts';
import type { Claims } from '../dispatch/dispatch-ports.ts';
import type { JobHead } from '../job.ts';
import type { Receipt } from './receipt.ts';

/** The messages table as a run of receipts sees it. Every read is strongly consistent, every write may be repeated. */
export interface ReceiptRecords {
  /** By job id, without the jobs that there are not (any more). */
  findHeads(jobIds: readonly string[]): Promise<ReadonlyMap<string, JobHead | 'unreadable'>>;
  append(head: JobHead, receipts: readonly Receipt[]): Promise<void>;
  doubtfulJobs(jobIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** All receipts of one group of a job's messages. */
  ofGroup(jobId: string, group: number): Promise<readonly Receipt[]>;
}

/** The claims as a run of receipts sees them; every read is strongly consistent. */
export interface ProvenClaims extends Pick<Claims, 'take'> {
  /** By dispatch id; a message without a claim is left out. */
  findClaims(keys: readonly DispatchKey[]): Promise<ReadonlyMap<string, Claim>>;
  findBatchRecords(invocations: readonly string[]): Promise<ReadonlyMap<string, BatchRecord>>;
  /** Settles the claim if it still is as it was seen; false otherwise. */
  settleSeen(
    seen: Claim,
    settlement: typeof provenByReceipt & { readonly resolvedAtMs?: number | undefined },
  ): Promise<boolean>;
}

export interface RecordPorts {
  readonly records: ReceiptRecords;
  readonly claims: ProvenClaims;
  readonly wanted: WantedEvents;
  readonly events: EventSink;
  readonly nowMs: () => number;
  /** How long this invocation may still work. */
  readonly remainingMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}
