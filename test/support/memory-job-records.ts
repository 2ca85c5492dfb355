import type { JobRecords } from '../../lib/messages/fan-out/fan-out.ts';
import { leaseMs, type RoundRecord, roundStateOf } from '../../lib/messages/rounds/lease.ts';
import type { JobState } from '../../lib/messages/job-state.ts';

/** What a job item says of one job and its parts. */
export interface MemoryJob {
  readonly queued: Map<number, number>;
  readonly rounds: Map<number, RoundRecord>;
  state: JobState;
}

export function emptyMemoryJob(): MemoryJob {
  return { queued: new Map(), rounds: new Map(), state: {} };
}

/** The records of one job in memory: what the calls of job-store.ts mean. */
export function memoryJobRecords(job: MemoryJob, committed: ReadonlySet<string> = new Set()): JobRecords {
  const { queued, rounds } = job;
  const isHeld = (part: number, round: number, owner: string) =>
    rounds.get(part)?.round === round && rounds.get(part)?.owner === owner;
  return {
    isCommitted: async (jobId) => committed.has(jobId),
    begin: async (_, part) => queued.get(part) ?? 0,
    describe: async () => undefined,
    take: async (run, nowMs) => {
      const state = roundStateOf(rounds.get(run.part), run, nowMs);
      if (state.kind !== 'free') return state;
      rounds.set(run.part, { round: run.round, owner: run.owner, leaseUntilMs: nowMs + leaseMs });
      return { kind: 'taken', queued: queued.get(run.part) ?? 0, state: job.state };
    },
    checkpoint: async ({ part, round, owner }, count, nowMs) => {
      if (!isHeld(part, round, owner)) return undefined;
      queued.set(part, count);
      rounds.set(part, { round, owner, leaseUntilMs: nowMs + leaseMs });
      return job.state;
    },
    handOver: async (run, nextRound) => {
      const { part, round, owner } = run;
      if (!isHeld(part, round, owner)) return roundStateOf(rounds.get(part), run, 0).kind === 'over';
      rounds.set(part, { round: nextRound, leaseUntilMs: 0 });
      return true;
    },
  };
}
