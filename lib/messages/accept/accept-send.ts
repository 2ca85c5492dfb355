import { present } from '../../keys/present.ts';
import { type AcceptJobPorts, acceptJob } from './accept-job.ts';
import { type CheckPorts, checkSend, type Send } from './check-send.ts';
import type { Accepted } from './idempotency.ts';

export interface AcceptPorts extends CheckPorts, Omit<AcceptJobPorts, 'remainingMs'> {}

/**
 * Accepts a send: checks it (400, 404, 422, 502), then hands all of it over, or nothing (D25), and shows it in the list of its
 * client (D40).
 */
export async function acceptSend(
  send: Send & { readonly remainingMs: () => number },
  ports: AcceptPorts,
): Promise<Accepted> {
  const { job, warning } = await checkSend(send, ports);
  await acceptJob(job, { ...ports, remainingMs: send.remainingMs });
  return { jobId: send.jobId, ...present({ warning }) };
}
