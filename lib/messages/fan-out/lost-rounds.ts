import { blockingLease } from '../../aws/lease.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { JobMessage } from '../accept/job-message.ts';
import type { JobHead } from '../job.ts';
import { type RoundRecord, roundAfterLast } from './job-rounds.ts';

// A scheduled send may wait for thirty days in a chain of job messages (D56). If one is lost (purged queue, removed
// dead letter), the job is stuck. So overdue rounds are queued again.

// That is harmless for a message that is only late: the second finds the round over.

// Only jobs that have begun are found. An undecided one could be sent twice; its own message or a repeated
// Idempotency-Key decides it (D25).

/** A round this late is lost: longer than the longest queue delay, and than the fan-out's longest backoff. */
export const lostAfterMs = 1_200_000;

export interface ScheduledJob {
  readonly head: Pick<JobHead, 'jobId' | 'clientId' | 'acceptedAtMs' | 'correlationId'>;
  /** Without it, the first round was never taken. */
  readonly round?: RoundRecord;
}

/** The item of this scheduled job cannot be read. */
export interface UnreadableJob {
  readonly jobId: string;
  readonly error: unknown;
}

export interface LostRoundsPorts {
  readonly scheduled: {
    /** Yields pages of scheduled jobs that may still wait, without forgotten ones. */
    all(): AsyncIterable<readonly (ScheduledJob | UnreadableJob)[]>;
    leave(jobId: string): Promise<void>;
  };
  readonly sendAgain: (message: JobMessage, delaySeconds: number) => Promise<void>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

export function roundState({ round, head }: ScheduledJob, nowMs: number): 'over' | 'lost' | 'waiting' {
  if (round?.round === roundAfterLast) return 'over';
  if (blockingLease(round?.lease, '', nowMs) !== undefined) return 'waiting';
  // A dead run leaves its lease; its message returns within a minute.
  const dueMs = round?.dueMs ?? round?.lease?.untilMs ?? head.acceptedAtMs;
  return nowMs - dueMs >= lostAfterMs ? 'lost' : 'waiting';
}

/**
 * Queues the messages of lost rounds again. Throws when table or queue cannot be reached: the next run looks again.
 * Throws after all others when an item cannot be read, so that the function's alarm tells it.
 */
export async function findLostRounds({ scheduled, sendAgain, nowMs, log }: LostRoundsPorts): Promise<void> {
  let unreadable = 0;
  for await (const jobs of scheduled.all()) {
    for (const job of jobs) {
      if ('error' in job) {
        unreadable += 1;
        log('job.unreadable', { jobId: job.jobId, error: errorName(job.error) });
        continue;
      }
      const standing = roundState(job, nowMs());
      const { jobId, clientId, acceptedAtMs, correlationId } = job.head;
      if (standing === 'over') await scheduled.leave(jobId);
      if (standing !== 'lost') continue;
      const round = job.round?.round;
      await sendAgain({ jobId, clientId, acceptedAtMs, ...omitUndefined({ correlationId, round }) }, 0);
      count('RoundsLost');
      log('job.round_lost', { jobId, clientId });
    }
  }
  if (unreadable > 0) throw new Error(`${unreadable} scheduled jobs cannot be read: job.unreadable names them`);
}
