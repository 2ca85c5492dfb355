import { inTheWay, type Lease } from '../../aws/lease.ts';
import type { HeaderInput, JobHead, Repeat, StoredRecipient } from '../job.ts';
import type { JobState } from '../job-state.ts';
import type { Lot } from '../lots.ts';
import type { CompositionPlan } from '../request/compose.ts';

/*
 * A job is released in rounds, so that what cannot leave for a while does not lie in the dispatch queue. Each round is one
 * message of the send-job queue, which names the job and carries nothing of it. Queues double messages, and a message outlives
 * the run that died with it, so the job item says which round the job is in, which run works on it, and how far it is:
 *
 * - a run *takes* its round before it queues anything, and holds it for `leaseMs`, renewed with each wave;
 * - a run *announces* a wave, with its slots, before it queues the first chunk of it. What was announced before is queued then. A run that
 *   finds a wave announced and not the next one queues it once more, in the same slots: it may have been queued, or not;
 * - at the end a run sends the next round's message, then *hands the round over*, then acknowledges its own;
 * - a message of a round that is over is dropped: its successor is in the queue, or the job is done;
 * - a message of the round, or the next, that another run holds is sent once more until that one hands over or is dead.
 *
 * So as long as recipients are left there is a message of their round, or of the next one, and no two runs queue side by side.
 * A store that does not answer makes nothing grow: nothing is queued that could not be announced.
 */

/** Which round a job is in, and the run that works on it: none between two rounds. */
export interface RoundRecord {
  readonly round: number;
  readonly lease?: Lease | undefined;
  /** When the message of the round is to come, of a send with a time of its own: it may be days until one is missed (D56). */
  readonly dueMs?: number | undefined;
}

/** No message has a later one. */
export const roundAfterLast = Number.MAX_SAFE_INTEGER;

/** Shorter than the time after which a killed run's message is delivered again, so that its next run need not wait. */
export const leaseMs = 45_000;

/** A run whose lease ends sooner than this queues no more: the longest request, and what clocks are apart. */
export const leaseMarginMs = 18_000;

/** How long a delivery is held, set again when that is more than `holdEveryMs` ago: a killed run costs a minute at most. */
export const holdSeconds = 60;
export const holdEveryMs = 20_000;

/** A run of the fan-out that works on a message of a round. */
export interface RoundRun {
  readonly jobId: string;
  readonly round: number;
  /** Unlike that of any other run, also of another delivery of the same message. */
  readonly owner: string;
}

/**
 * The recipients from those that are queued on until `until`, and where the first of them stands in the lane. Of a job with lots
 * it lies in one stretch (stretches.ts), and begins at `from`.
 */
export interface Wave {
  readonly from?: number;
  readonly until: number;
  readonly position: number;
}

/** The round that a job is given to. */
export type NextRound = Pick<RoundRecord, 'round' | 'dueMs'>;

/** How far a job is. */
export interface Progress {
  /** So many recipients, from the first on, are in the dispatch queue, or ended. Of a job with lots: of all stretches together. */
  readonly queued: number;
  /** Of a job with lots: how many of each stretch, in their order. Each only grows, and so does their sum. */
  readonly ofStretches?: readonly number[];
  /** What comes next was announced: it may be in the dispatch queue. */
  readonly wave?: Wave;
}

/** Why a run does not take a round. */
export type NotTaken =
  | { readonly kind: 'over' }
  /** Another run's until then, if it says nothing more. */
  | { readonly kind: 'held'; readonly untilMs: number };

export type Taken = { readonly kind: 'taken'; readonly progress: Progress; readonly state: JobState } | NotTaken;

/** What the record of a job says against a run that would take its round; the first round is taken where there is none. */
export function againstTaking(
  record: RoundRecord | undefined,
  { round, owner }: Pick<RoundRun, 'round' | 'owner'>,
  nowMs: number,
): NotTaken | undefined {
  if (record !== undefined && record.round > round) return { kind: 'over' };
  const other = inTheWay(record?.lease, owner, nowMs);
  return other === undefined ? undefined : { kind: 'held', untilMs: other.untilMs };
}

/** A job as acceptance has stored it. */
export interface StoredJob {
  readonly head: JobHead;
  readonly plan: CompositionPlan;
  readonly repeats: readonly Repeat[];
  /** How long a recipient waits after its wave because earlier ones are the same person, by index; those that need not are left out. */
  readonly waitsMs: ReadonlyMap<number, number>;
  /** Of a send with a time of its own (D56): when its recipients may leave, and what its template is judged with once more. */
  readonly lots?: readonly Lot[];
  readonly header?: HeaderInput;
}

/** Jobs as the fan-out sees them. Every write may be repeated; all throw when the store cannot be reached. */
export interface JobRounds {
  /** Strongly consistent. Undefined for a job that there is not (any more). */
  find(jobId: string): Promise<StoredJob | undefined>;
  /** From `firstIndex` on, one at least, as many as one read gives. Strongly consistent. */
  recipientsFrom(jobId: string, firstIndex: number): Promise<readonly StoredRecipient[]>;
  /** Begins the job, so that it counts and is found; `withdrawn` when its client was told that nothing is sent (D25). */
  begin(job: StoredJob): Promise<'begun' | 'withdrawn'>;
  take(run: RoundRun, nowMs: number): Promise<Taken>;
  /**
   * Writes how far the job is, and renews the lease; returns how the job stands. Undefined when another run has the round, or the
   * job is further: then it is an earlier announcement that lands once more.
   */
  announce(run: RoundRun, progress: Progress, nowMs: number): Promise<JobState | undefined>;
  /**
   * Gives the job to the run that comes with that round; false when another run has the round. `dueMs`: when its message is to
   * come, of a send with a time of its own.
   */
  handOver(run: RoundRun, progress: Progress, next: NextRound): Promise<boolean>;
  /** All of a send with a time of its own is released: its rounds are not looked for any more (lost-rounds.ts). */
  leaveSchedule(jobId: string): Promise<void>;
}
