import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventSink } from '../../webhooks/event.ts';
import type { DispatchMessage } from '../job.ts';
import type { JobHolds } from '../job-holds.ts';
import type { JobStates } from '../job-state.ts';
import type { NumberPaces } from '../pace/number-paces.ts';
import type { UrgentTenths } from '../pace/urgent.ts';
import type { Breaker, BreakerRule } from './breaker.ts';
import type { BatchRecord, Claim, DispatchKey, Settlement } from './claim.ts';
import type { Handover } from './platform-messages.ts';

/** The claims and batch records as the dispatch policy sees them. Everything throws when the store cannot be reached. */
export interface Claims {
  /** Writes the claim when there is none; otherwise returns the one that is there. The happy path's only write. */
  take(claim: Claim): Promise<Claim | undefined>;
  /** Removes the claim if it is still `claimed` by `at`; nothing otherwise. */
  release(key: DispatchKey, at: string): Promise<void>;
  /** Settles the claim if it is still `claimed` by `at`, or settled so; false otherwise. */
  settle(key: DispatchKey, at: string, settlement: Settlement): Promise<boolean>;
  findBatchRecord(invocation: string): Promise<BatchRecord | undefined>;
  recordBatch(invocation: string, taken: BatchRecord): Promise<void>;
}

/** What passes between the dispatch and whoever records receipts (D39); who sees whose write: items.ts, `doubtKey`. */
export interface Doubts {
  /** From now on, receipts of this job are compared with its claims. */
  mark(job: Pick<DispatchMessage, 'jobId' | 'acceptedAtMs'>): Promise<void>;
  hasReceipt(key: DispatchKey): Promise<boolean>;
}

/** The breaker of the platform. Both throw when the store cannot be reached. */
export interface Breakers {
  /** Eventually consistent. */
  find(): Promise<Breaker>;
  /**
   * Changes it under the condition that it is as it was `seen`; when somebody else was first, the rule is asked again with
   * what they left, a few times. Returns what this call has stored; undefined when the rule changes nothing, or others
   * were always first.
   */
  change(seen: Breaker, rule: BreakerRule): Promise<Breaker | undefined>;
}

export interface DispatchQueue {
  sendLater(message: DispatchMessage, delaySeconds: number): Promise<void>;
  /** Sets when a delivery that is reported failed becomes visible again. */
  postpone(receiptHandle: string, seconds: number): Promise<void>;
  /** The same of up to ten deliveries that are being worked off. */
  hold(receiptHandles: readonly string[], seconds: number): Promise<void>;
}

/** The jobs of messages that acceptance queued itself (items.ts, `mayBegin`). */
export interface StraightJobs {
  /** Begins the job unless it was taken back. May be repeated. Throws when the store cannot be reached. */
  begin(message: DispatchMessage): Promise<'begun' | 'withdrawn'>;
}

export interface DispatchPorts {
  readonly claims: Claims;
  readonly doubts: Doubts;
  readonly queue: DispatchQueue;
  readonly paces: NumberPaces;
  /** Of each number, what one-time codes have for themselves (D44). */
  readonly tenths: UrgentTenths;
  readonly jobStates: Pick<JobStates, 'of'>;
  readonly straightJobs: StraightJobs;
  /** What holds back jobs whose template is refused; for one batch. */
  readonly newHolds: () => JobHolds;
  readonly events: EventSink;
  /** Resolves when a call for the message can leave at once. Never throws. */
  readonly ready: (message: DispatchMessage) => Promise<void>;
  /** Hands one message to the platform and returns its answer; throws `PlatformFailure`. Never retries. */
  readonly send: (message: DispatchMessage) => Promise<Handover>;
  readonly breakers: Breakers;
  /** Asks the platform for something that costs nothing; resolves when it answered, throws as `send` does or when it cannot ask. */
  readonly probe: (message: DispatchMessage) => Promise<void>;
  /** Unlike that of any other run of the function, also of a second run for the same event. */
  readonly invocation: string;
  readonly nowMs: () => number;
  /** Time until the function is killed. */
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<void>;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** One delivery of a queue message. */
export interface Delivery {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes?: { readonly ApproximateReceiveCount: string };
}
