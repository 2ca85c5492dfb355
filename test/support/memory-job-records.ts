import type { JobRecords } from '../../lib/messages/fan-out/fan-out.ts';
import { leaseMs, type RoundRecord, roundStateOf } from '../../lib/messages/fan-out/rounds.ts';

/** What a job item says of the parts of one job; the meaning of the calls of job-store.ts. */
export interface PartStates {
  readonly queued: Map<number, number>;
  readonly rounds: Map<number, RoundRecord>;
}

/** The records of one job in memory. */
export function memoryJobRecords(
  committed: ReadonlySet<string>,
  { queued, rounds }: PartStates = { queued: new Map(), rounds: new Map() },
): JobRecords & PartStates {
  const isHeld = (part: number, round: number, owner: string) =>
    rounds.get(part)?.round === round && rounds.get(part)?.owner === owner;
  return {
    queued,
    rounds,
    isCommitted: async (jobId) => committed.has(jobId),
    begin: async (_, part) => queued.get(part) ?? 0,
    describe: async () => undefined,
    take: async (run, nowMs) => {
      const state = roundStateOf(rounds.get(run.part), run, nowMs);
      if (state.kind !== 'free') return state;
      rounds.set(run.part, { round: run.round, owner: run.owner, leaseUntilMs: nowMs + leaseMs });
      return { kind: 'taken', queued: queued.get(run.part) ?? 0 };
    },
    checkpoint: async ({ part, round, owner }, count, nowMs) => {
      if (!isHeld(part, round, owner)) return false;
      queued.set(part, count);
      rounds.set(part, { round, owner, leaseUntilMs: nowMs + leaseMs });
      return true;
    },
    handOver: async (run, nextRound) => {
      const { part, round, owner } = run;
      if (isHeld(part, round, owner)) rounds.set(part, { round: nextRound, leaseUntilMs: 0 });
      else return roundStateOf(rounds.get(part), run, 0).kind === 'over';
      return true;
    },
  };
}
