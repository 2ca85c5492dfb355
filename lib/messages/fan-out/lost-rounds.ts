import { inTheWay } from '../../aws/lease.ts';
import { present } from '../../keys/present.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { JobMessage } from '../accept/job-message.ts';
import type { JobHead } from '../job.ts';
import { type RoundRecord, roundAfterLast } from './job-rounds.ts';

/*
 * A send with a time of its own may wait for thirty days in messages of the send-job queue that follow each other, and nothing else
 * knows of it (D56). Where one is lost (a queue that was purged, a message in the dead-letter queue that the operator removed),
 * its recipients would never be heard of. So the table says which jobs wait, and when the message of their round is due, and
 * what is long overdue is queued once more. That is harmless where the message is only late: both name the same round, the first
 * one takes it, and the other finds it over.
 *
 * Only jobs that have begun are found. One that has not may be undecided: its acceptance did not hear from the queue, and its
 * client was told that (D25). To queue it would send what a client may just be sending again; its own message is in the queue, or
 * it was never there, and a repeated Idempotency-Key decides which.
 */

/** A round whose message is so late is lost: longer than a queue delays one, and than a failing fan-out takes between two tries. */
export const lostAfterMs = 1_200_000;

/** A job with a time of its own that has begun, and its rounds. */
export interface ScheduledJob {
  readonly head: Pick<JobHead, 'jobId' | 'clientId' | 'acceptedAtMs' | 'correlationId'>;
  /** Absent: its first round was never taken. */
  readonly round?: RoundRecord;
}

export interface LostRoundsPorts {
  readonly scheduled: {
    /** Jobs with a time of their own of which something may wait, some at a time. Those that are gone are left out. */
    all(): AsyncIterable<readonly ScheduledJob[]>;
    leave(jobId: string): Promise<void>;
  };
  readonly sendAgain: (message: JobMessage, delaySeconds: number) => Promise<void>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** What is to be done about a job that waits. */
export function standingOfRound({ round, head }: ScheduledJob, nowMs: number): 'over' | 'lost' | 'waiting' {
  if (round?.round === roundAfterLast) return 'over';
  if (inTheWay(round?.lease, '', nowMs) !== undefined) return 'waiting';
  // A run that died has left its lease: its message comes again within a minute.
  const dueMs = round?.dueMs ?? round?.lease?.untilMs ?? head.acceptedAtMs;
  return nowMs - dueMs >= lostAfterMs ? 'lost' : 'waiting';
}

/** Queues the message of every lost round once more. Throws when table or queue cannot be reached; the next run looks again. */
export async function findLostRounds({ scheduled, sendAgain, nowMs, log }: LostRoundsPorts): Promise<void> {
  for await (const jobs of scheduled.all()) {
    for (const job of jobs) {
      const standing = standingOfRound(job, nowMs());
      const { jobId, clientId, acceptedAtMs, correlationId } = job.head;
      if (standing === 'over') await scheduled.leave(jobId);
      if (standing !== 'lost') continue;
      const round = job.round?.round;
      await sendAgain({ jobId, clientId, acceptedAtMs, ...present({ correlationId, round }) }, 0);
      count('RoundsLost');
      log('job.round_lost', { jobId, clientId });
    }
  }
}
