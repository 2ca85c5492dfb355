import { log } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { DispatchMessage } from '../job.ts';
import type { AcceptanceRecords } from './acceptance-store.ts';
import type { AcceptedJob } from './accepted-job.ts';
import { inTimeLeft } from './answer-time.ts';

export interface DescribePorts {
  readonly acceptance: Pick<AcceptanceRecords, 'describe' | 'begin'>;
  /** Time left until Lambda ends this invocation. */
  readonly remainingMs: () => number;
}

/**
 * Writes down what the report of an accepted job opens with (D40). The job is queued and counts: when this cannot be
 * written, or not in time, the client is told 200 all the same, and the fan-out writes it before it sends anything.
 */
export async function describeAccepted(job: Omit<AcceptedJob, 'firstIndex'>, ports: DescribePorts): Promise<void> {
  await toldLater(job.head.jobId, ports, (signal) => ports.acceptance.describe({ ...job, firstIndex: 0 }, signal));
}

/** The same of a message that went straight, whose job begins with it; else whoever claims the message begins it. */
export async function beginStraight(message: DispatchMessage, ports: DescribePorts): Promise<void> {
  await toldLater(message.jobId, ports, async (signal) => {
    await ports.acceptance.begin(message, signal);
  });
}

async function toldLater(
  jobId: string,
  { remainingMs }: DescribePorts,
  write: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  try {
    await inTimeLeft(remainingMs, write);
  } catch (error) {
    log('job.not_described', { jobId, error: nameOf(error) });
  }
}
