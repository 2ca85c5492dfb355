import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventSink, WantedEvents } from '../../webhooks/event.ts';
import type { BatchRecord, Claim, DispatchKey, provenByReceipt } from '../dispatch/claim.ts';
import type { Claims } from '../dispatch/dispatch-ports.ts';
import type { ReceiptRecords } from './receipt-ports.ts';

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
