import * as v from 'valibot';
import { parkedScopes } from '../webhooks/event.ts';
import type { JobHead } from './job.ts';
import { afterOpenTimeMs, type Lot, openingsOfAll } from './lots.ts';

/*
 * What holds back the messages of a job as a whole (D46, D53). Who writes it, and in which order: items.ts, `mayStop`.
 */

/** How everything ends that no worker has claimed: final, and never changed. */
const JobStopSchema = v.object({
  state: v.picklist(['failed', 'expired']),
  /** The platform's error code, or a word of ours: `cancelled`, `template_paused`. */
  code: v.string(),
  /** The platform's text for people. The client's data: stored, never logged. */
  reason: v.exactOptional(v.string()),
  atMs: v.number(),
});
export type JobStop = v.InferOutput<typeof JobStopSchema>;

/** What a job can wait for: how wide the hold is that its messages have met (holds/scope.ts). */
export type ParkScope = (typeof parkedScopes)[number];

/** Since when what is left waits, as client and report are told. `sinceMs` names this waiting: who ends it ends no later one. */
export const JobParkedSchema = v.object({
  /** The platform's error code, or a word of ours: `template_paused`, `no_answer`. */
  code: v.string(),
  scope: v.picklist(parkedScopes),
  sinceMs: v.number(),
  /** The platform has taken a message since: the waiting is over as soon as nothing holds the job. */
  goesOn: v.exactOptional(v.literal(true)),
});
export type JobParked = v.InferOutput<typeof JobParkedSchema>;

/**
 * A job that is neither is sent. One that is both is stopped. Whether a message of a parked job is called is for the holds to say
 * (holds/hold.ts): that it is parked is what its client and its report are told, and what keeps its fan-out from releasing more.
 */
export interface JobState {
  /** Its head is written: it counts (items.ts, `mayBegin`). */
  readonly begun?: true;
  readonly stop?: JobStop;
  readonly parked?: JobParked;
  /** When the pause began: the first waiting since a message of the job was taken. Outlasts the end of a waiting, until one is. */
  readonly pausedFromMs?: number;
  readonly underWay?: UnderWay;
  /** The recipients that the operator has erased (D60), by their index: those that are open are not called any more. */
  readonly erased?: ReadonlySet<number>;
  /** The jobs that send to recipients of it once more (D57). */
  readonly retriedBy?: ReadonlySet<string>;
}

/**
 * Of a stopped job whose outcomes stand in slices: by the slice, the tries of which a worker may still have called somebody when
 * all slices were read after the stop (items.ts, `mayReckon`). Of any other try nothing leaves.
 */
const UnderWaySchema = v.record(v.string(), v.number());
export type UnderWay = Readonly<v.InferOutput<typeof UnderWaySchema>>;

/** The part of a job item (items.ts) that says so. */
export const JobStateSchema = v.object({
  stop: v.exactOptional(JobStopSchema),
  parked: v.exactOptional(JobParkedSchema),
  pausedFromMs: v.exactOptional(v.number()),
  underWay: v.exactOptional(UnderWaySchema),
  erased: v.exactOptional(v.set(v.number())),
  retriedBy: v.exactOptional(v.set(v.string())),
});

/** The states of jobs. Every write may be repeated; all throw when the store cannot be reached. */
export interface JobStates {
  /** Strongly consistent, one request for up to 100 jobs. A job of which nothing is written is not in the answer. */
  of(jobIds: readonly string[]): Promise<ReadonlyMap<string, JobState>>;
  /**
   * Stops the job, also one that the fan-out has not begun. True when this is how it is stopped now; false when it was
   * stopped otherwise before.
   */
  stop(job: StoppedJob, stop: JobStop): Promise<boolean>;
  /** Parks the job. True when this is how it is parked now; false when it was parked before, or is stopped, or gone. */
  park(jobId: string, parked: JobParked): Promise<boolean>;
  /** The platform has taken a message of a job that is still parked so. */
  goOn(jobId: string, sinceMs: number): Promise<void>;
  /**
   * Ends the waiting, and with it the pause where the platform has taken a message since. True when it was this that ended it;
   * false when it had ended, or another began.
   */
  resume(jobId: string, parked: JobParked): Promise<boolean>;
  /**
   * Ends the pause of a job that waits no more: the platform has taken a message of it, or holds none any more. False when the job
   * is parked again: then the pause goes on.
   */
  endPause(jobId: string): Promise<boolean>;
}

/** How long its item is kept follows from when it was accepted. */
export type StoppedJob = Pick<JobHead, 'jobId' | 'acceptedAtMs' | 'keptUntilMs'>;

/** How a client's cancellation ends what is left (D53). */
export function cancelled(atMs: number): JobStop {
  return { state: 'failed', code: 'cancelled', atMs };
}

/** A job waits at most this long for what holds it (D46). */
export const longestParkMs = 24 * 3_600_000;

/** How long a message of a parked job, its job message and its watcher wait until they look again. */
export function parkDelaySeconds(parkedForMs: number): number {
  return Math.min(120, Math.max(15, Math.ceil(parkedForMs / 4_000)));
}

/** What a claimed message, of which nothing has left yet, is to do. */
export type ByJobState =
  | { readonly kind: 'send' }
  | { readonly kind: 'wait'; readonly delaySeconds: number }
  | { readonly kind: 'settle'; readonly settlement: Pick<JobStop, 'state' | 'code' | 'reason'> };

/**
 * What the state of its job, read after the message was claimed and before anything left, makes of the message (D46, D53).
 * A message that waits gives its claim back and comes again as a copy.
 */
export function byJobState(state: JobState, message: Ending, nowMs: number): ByJobState {
  const { stop, parked } = state;
  if (stop !== undefined) return { kind: 'settle', settlement: settlementOf(stop) };
  if (parked === undefined) return { kind: 'send' };
  const waiting = { ...state, parked };
  if (nowMs >= parkEndMs(waiting, message)) {
    return { kind: 'settle', settlement: { state: 'expired', code: parked.code } };
  }
  return { kind: 'wait', delaySeconds: parkDelaySeconds(nowMs - pauseFromMs(waiting)) };
}

/** How a message of a stopped job ends. */
export function settlementOf({ atMs: _when, ...settlement }: JobStop): Pick<JobStop, 'state' | 'code' | 'reason'> {
  return settlement;
}

/**
 * How a try of a slice ends for certain, unless receipts prove otherwise: its worker sees the stop, or died before it did.
 * Undefined while that is not known.
 */
export function endOfTry(
  { stop, underWay }: JobState,
  { slice, try: tried }: { readonly slice: number; readonly try: number },
): JobStop | undefined {
  const under = underWay?.[slice];
  return underWay !== undefined && (under === undefined || tried > under) ? stop : undefined;
}

/** A job that waits, and the pause that this waiting belongs to. */
export type Waiting = Pick<JobState, 'pausedFromMs'> & { readonly parked: JobParked };

/** When the pause began of which this waiting is a part: a template that is called back and still refused makes several. */
export function pauseFromMs({ parked: { sinceMs }, pausedFromMs = sinceMs }: Waiting): number {
  return Math.min(pausedFromMs, sinceMs);
}

/** What a job, or a message of it, may wait for. `lots`: of a send with a time of its own. */
export interface Ending {
  readonly expiresAtMs?: number | undefined;
  readonly lots?: readonly Lot[] | undefined;
}

/**
 * When a parked job, or a message of it, expires: a day after its pause began, of which only the time counts in which some of its
 * lots were open (D56), or with its time to live.
 */
export function parkEndMs(waiting: Waiting, { expiresAtMs = Number.POSITIVE_INFINITY, lots }: Ending): number {
  const fromMs = pauseFromMs(waiting);
  const endMs = lots ? afterOpenTimeMs(openingsOfAll(lots), fromMs, longestParkMs) : fromMs + longestParkMs;
  return Math.min(endMs, expiresAtMs);
}
