import { present } from '../../lib/keys/present.ts';
import type { DispatchPorts } from '../../lib/messages/dispatch/dispatch-ports.ts';
import type { JobRecords, Taken } from '../../lib/messages/fan-out/fan-out.ts';
import { leaseMs, type RoundRecord, roundStateOf } from '../../lib/messages/rounds/lease.ts';
import type { JobState, JobStates } from '../../lib/messages/job-state.ts';
import type { Run } from './runs.ts';

interface Part {
  queued: number;
  round: RoundRecord | undefined;
}

/** The job items of the messages table, for any number of jobs and runs. */
export class MemoryJobs {
  readonly states = new Map<string, JobState>();
  readonly withdrawn = new Set<string>();
  readonly #parts = new Map<string, Part>();

  ofFanOut(run: Run): JobRecords {
    return {
      isCommitted: async () => true,
      begin: (head, part) =>
        run.call('begin', () => {
          this.#change(head.jobId, { begun: true });
          return this.#part(head.jobId, part).queued;
        }),
      describe: () => run.call('describe', () => undefined),
      take: (mine, nowMs) =>
        run.call('takeRound', (): Taken => {
          const part = this.#part(mine.jobId, mine.part);
          const state = roundStateOf(part.round, mine, nowMs);
          if (state.kind !== 'free') return state;
          part.round = { round: mine.round, owner: mine.owner, leaseUntilMs: nowMs + leaseMs };
          return { kind: 'taken', queued: part.queued, state: this.states.get(mine.jobId) ?? {} };
        }),
      checkpoint: (mine, queued, nowMs) =>
        run.call('checkpoint', () => {
          const part = this.#part(mine.jobId, mine.part);
          if (part.round?.round !== mine.round || part.round.owner !== mine.owner) return undefined;
          part.queued = queued;
          part.round = { round: mine.round, owner: mine.owner, leaseUntilMs: nowMs + leaseMs };
          return this.states.get(mine.jobId) ?? {};
        }),
      handOver: (mine, nextRound) =>
        run.call('handOver', () => {
          const part = this.#part(mine.jobId, mine.part);
          if (part.round?.round !== mine.round || part.round.owner !== mine.owner) {
            return roundStateOf(part.round, mine, 0).kind === 'over';
          }
          part.round = { round: nextRound, leaseUntilMs: 0 };
          return true;
        }),
    };
  }

  ofDispatch(run: Run): Pick<JobStates, 'of'> {
    return {
      of: (jobIds) =>
        run.call('jobStates', () => {
          return new Map(jobIds.flatMap((id) => (this.states.has(id) ? [[id, this.states.get(id) as JobState]] : [])));
        }),
    };
  }

  ofHolds(run: Run): Pick<JobStates, 'park' | 'stop' | 'endPause'> {
    return {
      park: (jobId, parked) =>
        run.call('park', () => {
          const { stop, parked: present, pausedFromMs = parked.sinceMs } = this.states.get(jobId) ?? {};
          if (stop !== undefined || present !== undefined) return false;
          this.#change(jobId, { parked, pausedFromMs });
          return true;
        }),
      endPause: (jobId) =>
        run.call('endPause', () => {
          const { pausedFromMs: _over, ...state } = this.states.get(jobId) ?? {};
          this.states.set(jobId, state);
        }),
      stop: ({ jobId }, stop) =>
        run.call('stop', () => {
          if (this.states.get(jobId)?.stop !== undefined) return false;
          const { begun } = this.states.get(jobId) ?? {};
          this.states.set(jobId, { ...present({ begun }), stop });
          return true;
        }),
    };
  }

  /** Of messages that acceptance has queued itself. */
  straight(run: Run): DispatchPorts['straightJobs'] {
    return {
      begin: ({ jobId }) =>
        run.call('beginStraight', () => {
          if (this.withdrawn.has(jobId)) return 'withdrawn';
          this.#change(jobId, { begun: true });
          return 'begun';
        }),
    };
  }

  /** As the acceptance takes a job back of which it does not know whether it was queued; true when it could. */
  withdraw(jobId: string): boolean {
    if (this.states.get(jobId)?.begun) return false;
    this.withdrawn.add(jobId);
    return true;
  }

  /** From now on the job stands so; undefined: as if nothing had ever been said. A stopped one stays so. */
  stand(jobId: string, state: JobState | undefined): void {
    const { stop, begun } = this.states.get(jobId) ?? {};
    if (stop === undefined) this.states.set(jobId, { ...present({ begun }), ...state });
  }

  #change(jobId: string, changes: JobState): void {
    this.states.set(jobId, { ...this.states.get(jobId), ...changes });
  }

  #part(jobId: string, part: number): Part {
    const key = `${jobId} ${part}`;
    const known = this.#parts.get(key) ?? { queued: 0, round: undefined };
    this.#parts.set(key, known);
    return known;
  }
}
