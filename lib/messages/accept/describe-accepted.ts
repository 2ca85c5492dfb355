import { log } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { AcceptanceRecords } from './acceptance-store.ts';
import type { AcceptedJob } from './accepted-job.ts';
import { inTimeLeft } from './answer-time.ts';

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
  try {
    await inTimeLeft(ports.remainingMs, (signal) => ports.acceptance.describe({ ...job, firstIndex: 0 }, signal));
  } catch (error) {
    log('job.not_described', { jobId: job.head.jobId, error: nameOf(error) });
  }
}
