import { log } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { AcceptanceRecords } from './acceptance-store.ts';
import type { AcceptedJob } from './accepted-job.ts';

const describeLimitMs = 2_000;
/** Before the function's end at which the edge answers by itself. */
const answerBudgetMs = 4_000;

export interface DescribePorts {
  readonly acceptance: Pick<AcceptanceRecords, 'describe'>;
  /** Time left until Lambda ends this invocation. */
  readonly remainingMs: () => number;
}

/**
 * Writes down what the report of an accepted job opens with (D40). The job is queued and counts: when this cannot be
 * written, or not in time, the client is told 200 all the same, and the fan-out writes it before it sends anything.
 */
export async function describeAccepted(job: Omit<AcceptedJob, 'firstIndex'>, ports: DescribePorts): Promise<void> {
  const limitMs = Math.min(describeLimitMs, ports.remainingMs() - answerBudgetMs);
  try {
    if (limitMs <= 0) throw new RangeError('too little time left');
    await ports.acceptance.describe({ ...job, firstIndex: 0 }, AbortSignal.timeout(limitMs));
  } catch (error) {
    log('job.not_described', { jobId: job.head.jobId, error: nameOf(error) });
  }
}
