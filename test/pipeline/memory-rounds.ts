import { present } from '../../lib/keys/present.ts';
import type { AcceptedJobs } from '../../lib/messages/accept/accepted-jobs-store.ts';
import { pairWaitsMs } from '../../lib/messages/accept/pair-waits.ts';
import type { WholeJob } from '../../lib/messages/accept/whole-job.ts';
import type { QueuedChunk } from '../../lib/messages/chunk.ts';
import type { JobHead } from '../../lib/messages/job.ts';
import type { JobState, JobStates } from '../../lib/messages/job-state.ts';
import type { JobRounds, Progress, RoundRun, Taken } from '../../lib/messages/rounds/job-rounds.ts';
import { leaseMs, type RoundRecord, roundStateOf } from '../../lib/messages/rounds/lease.ts';
import { headOfChunk } from '../../lib/messages/straight-chunk.ts';
import type { Run } from './runs.ts';

interface JobRecord {
  progress: Progress;
  round: RoundRecord | undefined;
}

/** So many recipients are read at once. */
const pageSize = 500;

/** The job items of the messages table, with what acceptance has stored of jobs, for any number of jobs and runs. */
export class MemoryRounds {
  readonly states = new Map<string, JobState>();
  readonly withdrawn = new Set<string>();
  /** Of the jobs that have begun. */
  readonly heads = new Map<string, JobHead>();
  readonly #stored = new Map<string, WholeJob>();
  readonly #records = new Map<string, JobRecord>();

  store(job: WholeJob): void {
    this.#stored.set(job.head.jobId, job);
  }

  statesOf(jobIds: readonly string[]): ReadonlyMap<string, JobState> {
    return new Map(jobIds.flatMap((id) => (this.states.has(id) ? [[id, this.states.get(id) as JobState]] : [])));
  }

  /** `takeSlice`, in the same transaction, says whether slice 0 is taken back as well. */
  ofAcceptance(
    run: Pick<Run, 'call'>,
    takeSlice: (jobId: string) => boolean,
  ): Pick<AcceptedJobs, 'describe' | 'withdraw' | 'list' | 'beginStraight'> {
    return {
      list: () => run.call('list', () => undefined),
      describe: (job) => run.call('describe', () => this.store(job)),
      withdraw: (jobId) =>
        run.call('withdraw', () => {
          if (this.heads.has(jobId) || !takeSlice(jobId)) return 'begun';
          this.withdrawn.add(jobId);
          return 'withdrawn';
        }),
      beginStraight: (chunk) => run.call('beginAccepted', () => this.#begin(headOfChunk(chunk))),
    };
  }

  /** By the worker that has claimed the chunk: its job is not withdrawn. */
  beginStraight(chunk: QueuedChunk): void {
    this.#begin(headOfChunk(chunk));
  }

  ofRounds(run: Pick<Run, 'call'>): JobRounds {
    return {
      find: (jobId) =>
        run.call('findJob', () => {
          const job = this.#stored.get(jobId);
          if (job === undefined) return undefined;
          const waitsMs = pairWaitsMs(job.recipients);
          return { head: job.head, plan: job.plan, repeats: job.repeats ?? [], waitsMs };
        }),
      recipientsFrom: (jobId, firstIndex) =>
        run.call('findPage', () => {
          const end = pageSize * (Math.floor(firstIndex / pageSize) + 1);
          return this.#stored.get(jobId)?.recipients.slice(firstIndex, end) ?? [];
        }),
      begin: ({ head }) => run.call('beginJob', () => this.#begin(head)),
      take: (mine, nowMs) =>
        run.call('takeRound', (): Taken => {
          const record = this.#record(mine.jobId);
          const state = roundStateOf(record.round, mine, nowMs);
          if (state.kind !== 'free') return state;
          record.round = heldBy(mine, nowMs);
          return { kind: 'taken', progress: record.progress, state: this.states.get(mine.jobId) ?? {} };
        }),
      announce: (mine, progress, nowMs) =>
        run.call('checkpoint', () => {
          const record = this.#record(mine.jobId);
          if (!isHeldBy(record.round, mine) || progress.queued < record.progress.queued) return undefined;
          record.progress = progress;
          record.round = heldBy(mine, nowMs);
          return this.states.get(mine.jobId) ?? {};
        }),
      handOver: (mine, progress, nextRound) =>
        run.call('handOver', () => {
          const record = this.#record(mine.jobId);
          if (!isHeldBy(record.round, mine)) return roundStateOf(record.round, mine, 0).kind === 'over';
          record.progress = progress;
          record.round = { round: nextRound };
          return true;
        }),
    };
  }

  ofHolds(run: Pick<Run, 'call'>): JobStates {
    return {
      of: (jobIds) => run.call('findStates', () => this.statesOf(jobIds)),
      park: (jobId, parked) =>
        run.call('park', () => {
          const { begun, stop, parked: present, pausedFromMs = parked.sinceMs } = this.states.get(jobId) ?? {};
          if (!begun || stop !== undefined || present !== undefined) return false;
          this.#change(jobId, { parked, pausedFromMs });
          return true;
        }),
      endPause: (jobId) =>
        run.call('endPause', () => {
          const { pausedFromMs: _over, ...state } = this.states.get(jobId) ?? {};
          if (state.parked === undefined) this.states.set(jobId, state);
          return state.parked === undefined;
        }),
      goOn: (jobId, sinceMs) =>
        run.call('goOn', () => {
          const { parked } = this.states.get(jobId) ?? {};
          if (parked?.sinceMs === sinceMs) this.#change(jobId, { parked: { ...parked, goesOn: true } });
        }),
      resume: (jobId, { sinceMs, goesOn }) =>
        run.call('resume', () => {
          const { parked, pausedFromMs, ...state } = this.states.get(jobId) ?? {};
          if (parked?.sinceMs !== sinceMs) return false;
          this.states.set(jobId, { ...state, ...(goesOn ? {} : present({ pausedFromMs })) });
          return true;
        }),
      stop: ({ jobId }, stop) =>
        run.call('stop', () => {
          if (this.states.get(jobId)?.stop !== undefined) return false;
          const { parked: _over, pausedFromMs: _too, ...state } = this.states.get(jobId) ?? {};
          this.states.set(jobId, { ...state, stop });
          return true;
        }),
    };
  }

  /** From now on the job stands so; undefined: as if nothing had ever been said. A stopped one stays so. */
  stand(jobId: string, state: JobState | undefined): void {
    const { stop, begun } = this.states.get(jobId) ?? {};
    if (stop === undefined) this.states.set(jobId, { ...present({ begun }), ...state });
  }

  #begin(head: JobHead): 'begun' | 'withdrawn' {
    if (this.withdrawn.has(head.jobId)) return 'withdrawn';
    this.heads.set(head.jobId, head);
    this.#change(head.jobId, { begun: true });
    return 'begun';
  }

  #change(jobId: string, changes: JobState): void {
    this.states.set(jobId, { ...this.states.get(jobId), ...changes });
  }

  #record(jobId: string): JobRecord {
    const known = this.#records.get(jobId) ?? { progress: { queued: 0 }, round: undefined };
    this.#records.set(jobId, known);
    return known;
  }
}

function heldBy({ round, owner }: RoundRun, nowMs: number): RoundRecord {
  return { round, lease: { owner, untilMs: nowMs + leaseMs } };
}

function isHeldBy(round: RoundRecord | undefined, mine: RoundRun): boolean {
  return round?.round === mine.round && round.lease?.owner === mine.owner;
}
