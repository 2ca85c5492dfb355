import { omitUndefined } from '../../../lib/keys/omit-undefined.ts';
import type { AcceptedJobs } from '../../../lib/messages/accept/accepted-jobs-store.ts';
import { type Slice, type SliceKey, sliceSize, withdrawn } from '../../../lib/messages/dispatch/claims/slice.ts';
import {
  againstTaking,
  type JobRounds,
  leaseMs,
  type Progress,
  type RoundRecord,
  type RoundRun,
} from '../../../lib/messages/fan-out/job-rounds.ts';
import type { JobState, JobStates } from '../../../lib/messages/job-state.ts';
import type { Report } from '../../../lib/messages/report/report-store.ts';
import type { WritesOf, Written } from './written.ts';

/** A job's item has as plain data its state, and the progress of its fan-out. */
export interface JobItem extends JobState {
  readonly withdrawn?: true;
  /** Both are absent until a round is claimed or announced. */
  readonly round?: RoundRecord;
  readonly progress?: Progress;
}

export type JobPort = Pick<JobStates, 'stop' | 'park' | 'goOn' | 'resume' | 'endPause'> &
  Pick<JobRounds, 'begin' | 'take' | 'announce' | 'handOver'> &
  Pick<Report, 'reckon'>;

/**
 * A job's item is written under the conditions of items.ts and job-rounds-store.ts (job-state-store.adapter.test.ts).
 */
export const jobWrites: WritesOf<JobItem, JobPort> = {
  begin: (job) => begun(job),

  stop: (job, _, stop) => {
    const known = job?.stop;
    if (known !== undefined) return { item: job, value: known.atMs === stop.atMs && known.code === stop.code };
    const { parked: _over, pausedFromMs: _too, ...rest } = job ?? {};
    return { item: { ...rest, stop }, value: true };
  },

  park: (job, _, parked) => {
    if (!job?.begun || job.stop !== undefined || job.parked !== undefined) {
      return { item: job, value: job?.parked?.sinceMs === parked.sinceMs };
    }
    return { item: { ...job, parked, pausedFromMs: job.pausedFromMs ?? parked.sinceMs }, value: true };
  },

  goOn: (job, _, sinceMs) => {
    const parked = job?.parked;
    if (parked?.sinceMs !== sinceMs) return { item: job, value: undefined };
    return { item: { ...job, parked: { ...parked, goesOn: true } }, value: undefined };
  },

  resume: (job, _, { sinceMs, goesOn }) => {
    if (job?.parked?.sinceMs !== sinceMs) return { item: job, value: false };
    const { parked: _over, pausedFromMs, ...rest } = job;
    return { item: { ...rest, ...(goesOn ? {} : omitUndefined({ pausedFromMs })) }, value: true };
  },

  endPause: (job) => {
    if (job === undefined || job.parked !== undefined) return { item: job, value: job === undefined };
    const { pausedFromMs: _over, ...rest } = job;
    return { item: rest, value: true };
  },

  take: (job, run, nowMs) => {
    const against = againstTaking(job?.round, run, nowMs);
    // An item without its head has expired.
    if (against !== undefined || !job?.begun) return { item: job, value: against ?? { kind: 'over' } };
    const progress = job.progress ?? { queued: 0 };
    const item = { ...job, round: heldFrom(nowMs, run) };
    return { item, value: { kind: 'taken', progress, state: toldToRounds(item) } };
  },

  announce: (job, run, progress, nowMs) => {
    const { queued = 0, wave } = job?.progress ?? {};
    const takesWaveBack = progress.queued === queued && wave !== undefined && progress.wave === undefined;
    const isBehind = progress.queued < queued || takesWaveBack;
    if (!isHeldBy(job, run) || isBehind) return { item: job, value: undefined };
    const item = { ...job, progress, round: heldFrom(nowMs, run) };
    return { item, value: toldToRounds(item) };
  },

  handOver: (job, run, progress, next) => {
    if (!isHeldBy(job, run)) return { item: job, value: againstTaking(job?.round, run, 0)?.kind === 'over' };
    return { item: { ...job, progress, round: next }, value: true };
  },

  reckon: (job, _, underWay) => {
    if (job?.stop === undefined || job.underWay !== undefined) return { item: job, value: job?.underWay ?? underWay };
    return { item: { ...job, underWay }, value: underWay };
  },
};

/** Begins a job for the fan-out, acceptance, or the worker of a straight chunk. */
export function begun(job: JobItem | undefined): Written<JobItem, 'begun' | 'withdrawn'> {
  if (job?.withdrawn) return { item: job, value: 'withdrawn' };
  return { item: { ...job, begun: true }, value: 'begun' };
}

/** A withdrawal writes both a job and its slice 0, or neither. */
export interface Withdrawable {
  readonly job: JobItem | undefined;
  readonly slice: Slice | undefined;
}

export function withdrawnJob(
  { job, slice }: Withdrawable,
  jobId: SliceKey['jobId'],
  atMs: number,
): Withdrawable & { readonly value: Awaited<ReturnType<AcceptedJobs['withdraw']>> } {
  const taken = withdrawn({ key: { jobId, slice: 0 }, size: sliceSize, atMs });
  const isFree = slice === undefined || slice.owner === taken.owner;
  if (job?.begun || !isFree) return { job, slice, value: 'begun' };
  return { job: { ...job, withdrawn: true }, slice: taken, value: 'withdrawn' };
}

/** Returns the state that readers of the job's item see. */
export function stateOf({ withdrawn: _, round: _round, progress: _progress, ...state }: JobItem): JobState {
  return state;
}

/** Leaves out that the job has begun, because a round knows it. */
function toldToRounds(job: JobItem): JobState {
  const { begun: _, ...state } = stateOf(job);
  return state;
}

function heldFrom(nowMs: number, { round, owner }: RoundRun): RoundRecord {
  return { round, lease: { owner, untilMs: nowMs + leaseMs } };
}

function isHeldBy(job: JobItem | undefined, { round, owner }: RoundRun): boolean {
  return job?.round?.round === round && job.round.lease?.owner === owner;
}
