import { maxDelaySeconds } from '../../aws/queue-body.ts';
import type { JobHead } from '../job.ts';
import { type CountMessage, type CountQueue, countMessageOf } from '../watch/watch-message.ts';

/*
 * A job of ten thousand messages gets thirty thousand receipts in hundreds of runs, and one count reads all of it. So a run only
 * makes sure that a count is to come which begins after it has appended: an item says when the next one begins. It is written
 * after the message that begins it is queued, so what the item says always comes; a run that dies between the two leaves a count
 * too many, which finds nothing new.
 */

/** When counts begin. All throw when the store cannot be reached. */
export interface CountMarks {
  /** When the last known count of the job begins, or began; strongly consistent. */
  dueMs(jobId: string): Promise<number | undefined>;
  mark(job: Pick<JobHead, 'jobId' | 'acceptedAtMs' | 'keptUntilMs'>, dueMs: number): Promise<void>;
}

export interface LaterCountPorts {
  readonly marks: CountMarks;
  readonly queue: CountQueue;
  readonly nowMs: () => number;
}

/** What two clocks may be apart: a count that begins sooner may not see what this run has appended. */
const clocksApartMs = 10_000;

const soonestMs = 60_000;
const latestMs = 6 * 3_600_000;

/** Jobs of which one process remembers the next count; forgetting one costs a read. */
const rememberedJobs = 10_000;

/**
 * The older a job, the rarer it is counted: after half of its age, a minute at least and six hours at most. Of a send with a time of
 * its own the age is counted from the first moment at which any of it might leave (D56).
 */
export function countDelayMs({ acceptedAtMs, when }: Pick<JobHead, 'acceptedAtMs' | 'when'>, nowMs: number): number {
  return Math.min(latestMs, Math.max(soonestMs, (nowMs - (when?.fromMs ?? acceptedAtMs)) / 2));
}

type Counted = Pick<JobHead, 'jobId' | 'clientId' | 'acceptedAtMs' | 'keptUntilMs' | 'correlationId' | 'when'>;

/** Makes sure, of a job at a time, that a count is to come which sees all that is written now. Remembers what it has seen. */
export function laterCounts({ marks, queue, nowMs }: LaterCountPorts): (job: Counted) => Promise<void> {
  const known = new Map<string, number>();
  const isAhead = (dueMs: number | undefined) => dueMs !== undefined && dueMs > nowMs() + clocksApartMs;
  return async (job) => {
    const { jobId } = job;
    if (isAhead(known.get(jobId))) return;
    if (known.size >= rememberedJobs) known.clear();
    const marked = await marks.dueMs(jobId);
    if (marked !== undefined && isAhead(marked)) {
      known.set(jobId, marked);
      return;
    }
    const dueMs = nowMs() + countDelayMs(job, nowMs());
    await sendAt(countMessageOf(job, dueMs), { queue, nowMs });
    await marks.mark(job, dueMs);
    known.set(jobId, dueMs);
  };
}

/** Counts once it is due; before, the message goes back, for queues delay by fifteen minutes at most. */
export async function countWhenDue(
  message: CountMessage,
  {
    queue,
    nowMs,
    count,
  }: Pick<LaterCountPorts, 'queue' | 'nowMs'> & { readonly count: (jobId: string) => Promise<void> },
): Promise<void> {
  if (nowMs() < message.dueMs) return await sendAt(message, { queue, nowMs });
  await count(message.jobId);
}

async function sendAt(
  message: CountMessage,
  { queue, nowMs }: Pick<LaterCountPorts, 'queue' | 'nowMs'>,
): Promise<void> {
  const seconds = Math.ceil((message.dueMs - nowMs()) / 1_000);
  await queue.sendLater(message, Math.min(maxDelaySeconds, Math.max(0, seconds)));
}
