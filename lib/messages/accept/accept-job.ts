import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { JobHead } from '../job.ts';
import type { AcceptedJobs } from './accepted-jobs-store.ts';
import { inTimeLeft } from './answer-deadline.ts';
import {
  noteCorrespondents,
  type QueueJobPorts,
  queueStraightRequest,
  storeAndQueueJob,
} from './store-and-queue-job.ts';
import { straightRequest } from './straight-request.ts';
import type { WholeJob } from './whole-job.ts';

export interface AcceptJobPorts extends QueueJobPorts {
  readonly acceptance: Pick<AcceptedJobs, 'describe' | 'withdraw' | 'list' | 'begin' | 'beginStraight'>;
  /** Reads the messages a second that the number may send, as the platform last reported them. */
  readonly limitOf: (head: JobHead) => Promise<number>;
}

/** Hands small jobs straight to workers, others to the fan-out. Refuses as `storeAndQueueJob` does. */
export async function acceptJob(job: WholeJob, ports: AcceptJobPorts): Promise<void> {
  const { jobId, clientId, total } = job.head;
  const straight = await straightRequest(job, ports.limitOf);
  if (job.shared) await noteCorrespondents(job, ports);
  if (straight === undefined) await storeAndQueueJob(job, ports);
  else await queueStraightRequest(straight, ports);
  count('RecipientsAccepted', total);
  log('job.accepted', { jobId, clientId, count: total });
  // The job counts even if this fails or is late: the fan-out or the worker lists it before it sends.
  try {
    await inTimeLeft(ports.remainingMs, async (signal) => {
      if (straight === undefined) await ports.acceptance.list(job, signal);
      else await ports.acceptance.beginStraight(straight, signal);
    });
  } catch (error) {
    log('job.not_described', { jobId, error: errorName(error) });
  }
}
