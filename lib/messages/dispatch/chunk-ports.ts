import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { OptOutLook } from '../../opt-outs/opt-out-store.ts';
import type { Sender } from '../../opt-outs/scope.ts';
import type { EventSink } from '../../webhooks/event.ts';
import type { QueuedChunk } from '../chunk.ts';
import type { Breakers } from '../holds/breaker.ts';
import type { Holds } from '../holds/hold.ts';
import type { RunHolds } from '../holds/run-holds.ts';
import type { InboundSink } from '../inbound/inbound-message.ts';
import type { NoteSent } from '../inbound/sent-ids.ts';
import type { JobState } from '../job-state.ts';
import type { NumberPace } from '../pace/number-pace.ts';
import type { NumberPaces } from '../pace/number-paces.ts';
import type { UrgentTenths } from '../pace/urgent.ts';
import type { Slice, SliceKey } from './claims/slice.ts';
import type { Slices } from './claims/slice-store.ts';
import type { Handover, Posting } from './platform-messages.ts';

/** What is to be read together. */
export interface Looked {
  readonly wabaId: string;
  /** Without it, the pace is not read. */
  readonly phoneNumberId?: string;
  readonly jobIds: readonly string[];
  /** Whose messages ask for opt-outs; without it, no mark of them is read. */
  readonly optOutsOf?: Sender;
}

/** How a number, what holds its WABA and some jobs stand, read together. A job of which nothing is written is not there. */
export interface Standing {
  readonly pace: NumberPace;
  readonly holds: Holds;
  readonly jobs: ReadonlyMap<string, JobState>;
  /** There is a mark: some person may want no marketing from the sender that was asked for (D55). */
  readonly anyStops: boolean;
}

/** The queue of chunks. All throw when it cannot be reached. */
export interface ChunkQueue {
  /**
   * A straight code back to the worker's own queue, unless it is to go to the workers of jobs; any other chunk to these: the
   * workers of small requests hold none of them for long (D44).
   */
  sendLater(chunk: QueuedChunk, delaySeconds: number, to?: 'jobs'): Promise<void>;
  /** Sets when a delivery that is reported failed becomes visible again. */
  postpone(receiptHandle: string, seconds: number): Promise<void>;
  /** The same of up to ten deliveries that are being worked off. */
  hold(receiptHandles: readonly string[], seconds: number): Promise<void>;
}

/** What passes between a worker and the runs of receipts (D39). Both throw when the store cannot be reached. */
export interface SliceDoubts {
  /** From now on receipts of the job are compared with its slices; may be repeated. */
  mark(job: Pick<QueuedChunk, 'jobId' | 'acceptedAtMs' | 'keptUntilMs'>): Promise<void>;
  /** Places of a slice of which there are receipts, read strongly after the call. */
  proven(key: SliceKey): Promise<ReadonlySet<number>>;
}

/** The jobs of chunks, and what else stands about them. Both throw when the store cannot be reached. */
export interface StandingJobs {
  /** Strongly consistent, one request. */
  look(looked: Looked): Promise<Standing>;
  /** Begins the job of a straight chunk whose slice is claimed; may be repeated. */
  beginStraight(chunk: QueuedChunk): Promise<void>;
}

/** The platform, as workers call it. */
export interface CalledPlatform {
  /** Resolves when a call with that credential can leave at once. Never throws. */
  ready(posting: Pick<Posting, 'credential'>): Promise<void>;
  /** Hands one message to the platform and returns its answer; throws `PlatformFailure`. Never retries. */
  send(posting: Posting): Promise<Handover>;
  /**
   * Asks the platform for the health of a number, which costs nothing: whether it may send. Throws as `send` does, or when it
   * cannot ask.
   */
  probe(number: Pick<QueuedChunk, 'wabaId' | 'credential' | 'phoneNumberId'>): Promise<{ readonly maySend: boolean }>;
}

/** People who want no marketing (D55). Both throw when the other side cannot be reached. */
export interface HeededPeople {
  /** The stops that concern these recipients of a sender; strongly consistent, one request for a slice. */
  readonly stoppedAmong: OptOutLook['stoppedAmong'];
  /** Where is told what the platform's answers say of people. */
  readonly inbound: InboundSink;
}

/** The process of one run. */
export interface RunProcess {
  /** Unlike that of any other run of the function, also of a second run for the same event. */
  readonly invocation: string;
  readonly nowMs: () => number;
  /** Time until the function is killed. */
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<void>;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** What a worker's run works with. Everything that reads or writes throws when the store cannot be reached. */
export interface ChunkWorkerPorts {
  /** The workers of small requests, codes above all. */
  readonly isOfSmallRequests: boolean;
  readonly slices: Slices;
  readonly doubts: SliceDoubts;
  readonly jobs: StandingJobs;
  /** Of each number its schedule, and what one-time codes have for themselves (D44). */
  readonly numbers: { readonly paces: NumberPaces; readonly tenths: UrgentTenths };
  /** What is held: what one run does about it, and whether it is the platform as a whole. */
  readonly holds: { readonly ofRun: () => RunHolds; readonly breakers: Breakers };
  readonly platform: CalledPlatform;
  readonly people: HeededPeople;
  readonly queue: ChunkQueue;
  readonly events: EventSink;
  /** What the platform calls messages, for those who answer them (D55). */
  readonly noteSent: NoteSent;
  /** Counts what a straight chunk costs that has ended so (D58), where no receipt will say it. May be repeated. */
  readonly countEnded: (chunk: QueuedChunk, ended: readonly Slice[]) => Promise<void>;
  readonly process: RunProcess;
}
