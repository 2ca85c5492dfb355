import { present } from '../../keys/present.ts';
import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { JobHead } from '../job.ts';
import { type CheckPorts, checkSend, type Send } from './check-send.ts';
import { beginStraight, type DescribePorts, describeAccepted } from './describe-accepted.ts';
import { type EnqueuePorts, enqueueJob, enqueueStraight } from './enqueue-job.ts';
import type { Accepted } from './idempotency.ts';
import type { AcceptedSend } from './send-job.ts';
import { straightSend } from './straight-send.ts';

export interface AcceptPorts extends CheckPorts, Omit<EnqueuePorts & DescribePorts, 'remainingMs'> {
  /** Messages a second that the number of a job may send, by the platform's last word. */
  readonly limitOf: (head: JobHead) => Promise<number>;
}

/**
 * Accepts a send: checks it (400, 404, 422, 502), queues the whole (D25), and writes down what its report opens with
 * (D40).
 */
export async function acceptSend(
  send: Send & { readonly remainingMs: () => number },
  ports: AcceptPorts,
): Promise<Accepted> {
  const { job, warning } = await checkSend(send, ports);
  await queueAndDescribe(job, { ...ports, remainingMs: send.remainingMs });
  return { jobId: send.jobId, ...present({ warning }) };
}

/** One recipient goes straight to the workers, several by the fan-out. */
async function queueAndDescribe(
  job: AcceptedSend,
  ports: AcceptPorts & Pick<EnqueuePorts, 'remainingMs'>,
): Promise<void> {
  const { jobId, clientId, total } = job.head;
  const straight = await straightSend(job, ports.limitOf);
  if (straight === undefined) await enqueueJob(job, ports);
  else await enqueueStraight(straight, ports);
  count('RecipientsAccepted', total);
  log('job.accepted', { jobId, clientId, count: total });
  if (straight === undefined) await describeAccepted(job, ports);
  else await beginStraight(straight.message, ports);
}
