import * as v from 'valibot';
import { parkedScopes } from '../webhooks/event.ts';
import type { JobHead } from './job.ts';
import { afterOpenTimeMs, type Lot, openingsOfAll } from './lots.ts';

/*
 * A stop or park holds back the messages of a job as a whole (D46, D53). items.ts, `mayStop`, has the writers and their
 * order.
 */

/** Every unclaimed message ends this way. A stop never changes. */
const JobStopSchema = v.object({
  state: v.picklist(['failed', 'expired']),
  /** The code may be our own: `cancelled`, `template_paused`. */
  code: v.string(),
  /** The reason is the client's data: stored, never logged. */
  reason: v.exactOptional(v.string()),
  atMs: v.number(),
});
export type JobStop = v.InferOutput<typeof JobStopSchema>;

/** A job waits for the scope of the hold that its messages met (holds/scope.ts). */
export type ParkScope = (typeof parkedScopes)[number];

/** `sinceMs` identifies the waiting that client and report see, so that a writer never ends a later one. */
export const JobParkedSchema = v.object({
  /** The code may be our own: `template_in_review`, `template_paused`, `no_answer`. */
  code: v.string(),
  scope: v.picklist(parkedScopes),
  sinceMs: v.number(),
  /** The platform has taken a message since: the waiting ends once nothing holds the job. */
  goesOn: v.exactOptional(v.literal(true)),
});
export type JobParked = v.InferOutput<typeof JobParkedSchema>;

/**
 * A job that is both stopped and parked is stopped. `parked` informs client and report and stops the fan-out; the holds
 * alone decide whether a message is called (holds/hold.ts).
 */
export interface JobState {
  /** The head is written: the job counts (items.ts, `mayBegin`). */
  readonly begun?: true;
  readonly stop?: JobStop;
  readonly parked?: JobParked;
  /**
   * The pause starts with the first waiting since the platform took a message of the job, and outlasts single waitings.
   */
  readonly pausedFromMs?: number;
  readonly underWay?: UnderWay;
  /** The operator has erased these recipients (D60): open ones are no longer called. */
  readonly erased?: ReadonlySet<number>;
  /** These jobs retry recipients of this one (D57). */
  readonly retriedBy?: ReadonlySet<string>;
}

/**
 * A worker may still be calling these tries of a stopped job, by slice, from a read after the stop (items.ts,
 * `mayReckon`).
 */
const UnderWaySchema = v.record(v.string(), v.number());
export type UnderWay = Readonly<v.InferOutput<typeof UnderWaySchema>>;

export const JobStateSchema = v.object({
  stop: v.exactOptional(JobStopSchema),
  parked: v.exactOptional(JobParkedSchema),
  pausedFromMs: v.exactOptional(v.number()),
  underWay: v.exactOptional(UnderWaySchema),
  erased: v.exactOptional(v.set(v.number())),
  retriedBy: v.exactOptional(v.set(v.string())),
});

/** Every write may be repeated. All reject when the store cannot be reached. */
export interface JobStates {
  /** Makes one strongly consistent request for up to 100 jobs. Jobs without an item are left out. */
  of(jobIds: readonly string[]): Promise<ReadonlyMap<string, JobState>>;
  /**
   * Stops the job, also before the fan-out begins it. Returns true when this stop is in force, false when an earlier
   * one is.
   */
  stop(job: StoppedJob, stop: JobStop): Promise<boolean>;
  /**
   * Parks the job. Returns true when this parking is in force, false when the job was parked before, is stopped, or is
   * gone.
   */
  park(jobId: string, parked: JobParked): Promise<boolean>;
  /** Notes that the platform took a message while the job is parked. */
  goOn(jobId: string, sinceMs: number): Promise<void>;
  /**
   * Ends this waiting, and the pause too if the platform has taken a message since. Returns false when the waiting had
   * ended, or another had begun.
   */
  resume(jobId: string, parked: JobParked): Promise<boolean>;
  /** Ends the pause of a job that is not parked. Returns false when it is parked again: the pause goes on. */
  endPause(jobId: string): Promise<boolean>;
}

export type StoppedJob = Pick<JobHead, 'jobId' | 'acceptedAtMs' | 'keptUntilMs'>;

/** Returns the stop that a client's cancellation writes (D53). */
export function cancelled(atMs: number): JobStop {
  return { state: 'failed', code: 'cancelled', atMs };
}

/** A job waits no longer for a hold (D46). */
export const longestParkMs = 24 * 3_600_000;

/** Returns the delay until a parked message, its job message or its watcher looks again. */
export function parkDelaySeconds(parkedForMs: number): number {
  return Math.min(120, Math.max(15, Math.ceil(parkedForMs / 4_000)));
}

export type ByJobState =
  | { readonly kind: 'send' }
  | { readonly kind: 'wait'; readonly delaySeconds: number }
  | { readonly kind: 'settle'; readonly settlement: Pick<JobStop, 'state' | 'code' | 'reason'> };

/**
 * Decides by the job's state, read between claim and call (D46, D53). A message that waits gives its claim back and
 * returns as a copy.
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

export function settlementOf({ atMs: _when, ...settlement }: JobStop): Pick<JobStop, 'state' | 'code' | 'reason'> {
  return settlement;
}

/**
 * Returns how a try ends for certain, unless receipts prove otherwise: its worker saw the stop, or died before. Returns
 * undefined while unknown.
 */
export function endOfTry(
  { stop, underWay }: JobState,
  { slice, try: tried }: { readonly slice: number; readonly try: number },
): JobStop | undefined {
  const under = underWay?.[slice];
  return underWay !== undefined && (under === undefined || tried > under) ? stop : undefined;
}

export type Waiting = Pick<JobState, 'pausedFromMs'> & { readonly parked: JobParked };

/** Returns the start of the pause. A pause has several waitings when a template is approved again but still refused. */
export function pauseFromMs({ parked: { sinceMs }, pausedFromMs = sinceMs }: Waiting): number {
  return Math.min(pausedFromMs, sinceMs);
}

export interface Ending {
  readonly expiresAtMs?: number | undefined;
  readonly lots?: readonly Lot[] | undefined;
}

/**
 * Returns when a parked job or message expires: with its time to live, or after a day of pause, for scheduled sends a
 * day of open time (D56).
 */
export function parkEndMs(waiting: Waiting, { expiresAtMs = Number.POSITIVE_INFINITY, lots }: Ending): number {
  const fromMs = pauseFromMs(waiting);
  const endMs = lots ? afterOpenTimeMs(openingsOfAll(lots), fromMs, longestParkMs) : fromMs + longestParkMs;
  return Math.min(endMs, expiresAtMs);
}
