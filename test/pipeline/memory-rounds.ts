import { pairWaitsMs } from '../../lib/messages/accept/pair-waits.ts';
import type { AcceptedSend } from '../../lib/messages/accept/send-job.ts';
import type { JobState } from '../../lib/messages/job-state.ts';
import type { JobRounds, Progress, RoundRun, Taken } from '../../lib/messages/rounds/job-rounds.ts';
import { leaseMs, type RoundRecord, roundStateOf } from '../../lib/messages/rounds/lease.ts';
import { MemoryJobs } from './memory-jobs.ts';
import type { Run } from './runs.ts';

interface JobRecord {
  progress: Progress;
  round: RoundRecord | undefined;
}

/** So many recipients are read at once. */
const pageSize = 500;

/** The job items of the messages table, with what acceptance has stored of jobs, for any number of jobs and runs. */
export class MemoryRounds extends MemoryJobs {
  readonly #stored = new Map<string, AcceptedSend>();
  readonly #records = new Map<string, JobRecord>();

  store(job: AcceptedSend): void {
    this.#stored.set(job.head.jobId, job);
  }

  statesOf(jobIds: readonly string[]): ReadonlyMap<string, JobState> {
    return new Map(jobIds.flatMap((id) => (this.states.has(id) ? [[id, this.states.get(id) as JobState]] : [])));
  }

  beginStraight(jobId: string): void {
    if (!this.withdrawn.has(jobId)) this.states.set(jobId, { ...this.states.get(jobId), begun: true });
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
      begin: ({ head: { jobId } }) =>
        run.call('beginJob', () => {
          if (this.withdrawn.has(jobId)) return 'withdrawn';
          this.states.set(jobId, { ...this.states.get(jobId), begun: true });
          return 'begun';
        }),
      take: (mine, nowMs) =>
        run.call('takeRound', (): Taken => {
          const record = this.#record(mine.jobId);
          const state = roundStateOf(record.round, { ...mine, part: 1 }, nowMs);
          if (state.kind !== 'free') return state;
          record.round = { round: mine.round, owner: mine.owner, leaseUntilMs: nowMs + leaseMs };
          return { kind: 'taken', progress: record.progress, state: this.states.get(mine.jobId) ?? {} };
        }),
      announce: (mine, progress, nowMs) =>
        run.call('checkpoint', () => {
          const record = this.#record(mine.jobId);
          if (!isHeldBy(record.round, mine) || progress.queued < record.progress.queued) return undefined;
          record.progress = progress;
          record.round = { round: mine.round, owner: mine.owner, leaseUntilMs: nowMs + leaseMs };
          return this.states.get(mine.jobId) ?? {};
        }),
      handOver: (mine, progress, nextRound) =>
        run.call('handOver', () => {
          const record = this.#record(mine.jobId);
          if (!isHeldBy(record.round, mine)) {
            return roundStateOf(record.round, { ...mine, part: 1 }, 0).kind === 'over';
          }
          record.progress = progress;
          record.round = { round: nextRound, leaseUntilMs: 0 };
          return true;
        }),
    };
  }

  #record(jobId: string): JobRecord {
    const known = this.#records.get(jobId) ?? { progress: { queued: 0 }, round: undefined };
    this.#records.set(jobId, known);
    return known;
  }
}

function isHeldBy(round: RoundRecord | undefined, mine: RoundRun): boolean {
  return round?.round === mine.round && round.owner === mine.owner;
}
