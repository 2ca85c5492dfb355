import { present } from '../../keys/present.ts';
import type { Means } from '../budget/means.ts';
import type { AcceptJobPorts } from './accept-job.ts';
import { acceptWithinMeans, type MeansPorts } from './accept-within-means.ts';
import { type CheckPorts, checkSend, type Send } from './check-send.ts';
import type { Accepted } from './idempotency.ts';

export interface AcceptPorts extends CheckPorts, MeansPorts, Omit<AcceptJobPorts, 'remainingMs'> {}

/**
 * Checks a send (400, 404, 422, 502) and its cost limits (D58), hands over all of it or nothing (D25), and lists it
 * (D40).
 */
export async function acceptSend(
  send: Send & { readonly means: Means; readonly remainingMs: () => number },
  ports: AcceptPorts,
): Promise<Accepted> {
  const { job, warning } = await checkSend(send, ports);
  const unpriced = await acceptWithinMeans(job, send.means, { ...ports, remainingMs: send.remainingMs });
  return { jobId: send.jobId, ...present({ warning: joined([warning, unpriced]) }) };
}

function joined(sentences: readonly (string | undefined)[]): string | undefined {
  const said = sentences.filter((sentence) => sentence !== undefined);
  return said.length === 0 ? undefined : said.join('; ');
}
