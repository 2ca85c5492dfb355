import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { OptOutLook } from '../../opt-outs/opt-out-store.ts';
import type { Sender } from '../../opt-outs/scope.ts';
import type { EventSink } from '../../webhooks/event.ts';
import type { CallFacts } from '../dispatch/call-facts.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import type { DispatchAge } from '../dispatch/items.ts';
import type { SliceKey } from '../dispatch/slice.ts';
import type { Slices } from '../dispatch/slice-store.ts';
import type { Holds } from '../holds/hold.ts';
import type { InboundSink } from '../inbound/inbound-message.ts';
import type { NoteSent } from '../inbound/sent-ids.ts';
import type { Handover, Posting } from './platform-messages.ts';

export interface SnapshotQuery {
  readonly wabaId: string;
  readonly dispatchIds: readonly string[];
  /** Messages of this sender heed opt-outs. Without it, no marks are read. */
  readonly optOutsOf?: Sender;
}

/** The holds of a WABA and some dispatches are read together. Dispatches without an item are left out. */
export interface SendSnapshot {
  readonly holds: Holds;
  readonly dispatches: ReadonlyMap<string, DispatchItemState>;
  /** The sender has at least one opt-out (D55). */
  readonly anyStops: boolean;
}

/** Workers and runs of receipts exchange facts here (D39). Every method rejects when the store cannot be reached. */
export interface UnknownOutcomes {
  /** Makes receipts of the dispatch look at its slices from now on; is idempotent. */
  mark(dispatch: Pick<CallFacts, 'dispatchId' | keyof DispatchAge>): Promise<void>;
  /** Returns the places of a slice with receipts, by a strong read after the call. */
  proven(key: SliceKey): Promise<ReadonlySet<number>>;
}

/** Reads dispatches after claims. Rejects when the store cannot be reached. */
export interface DispatchSnapshots {
  /** Makes one strongly consistent request. */
  look(looked: SnapshotQuery): Promise<SendSnapshot>;
}

export interface CalledPlatform {
  /** Resolves when the credential is ready for a call. Never throws. */
  ready(posting: Pick<Posting, 'credential'>): Promise<void>;
  /** Posts one message, without retries. Throws `PlatformFailure`. */
  send(posting: Posting): Promise<Handover>;
  /** Reads whether a number may send, free of charge. Throws as `send` does, or without a credential. */
  probe(number: Pick<CallFacts, 'wabaId' | 'credential' | 'phoneNumberId'>): Promise<{ readonly maySend: boolean }>;
}

/** Every method rejects when the store or queue cannot be reached (D55). */
export interface WorkerOptOuts {
  /** Reads the opt-outs of these recipients for a sender strongly, with one request per slice. */
  readonly stoppedAmong: OptOutLook['stoppedAmong'];
  readonly inbound: InboundSink;
}

export interface RunProcess {
  /** The id is unique for each run, also for a second run of the same event. */
  readonly invocation: string;
  readonly nowMs: () => number;
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<void>;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** Every read and write rejects when the store cannot be reached. */
export interface SendingPorts {
  readonly slices: Slices;
  readonly unknowns: UnknownOutcomes;
  readonly dispatches: DispatchSnapshots;
  readonly platform: CalledPlatform;
  readonly people: WorkerOptOuts;
  readonly events: EventSink;
  /** Stores the platform's message ids, so that answers find their message (D55). */
  readonly noteSent: NoteSent;
  readonly process: RunProcess;
}
