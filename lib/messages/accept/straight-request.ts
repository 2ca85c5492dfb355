import { queueBody, queueMessageMaxBytes } from '../../aws/queue-body.ts';
import { present } from '../../keys/present.ts';
import { type ChunkRecipient, chunkVersion, type QueuedChunk, straightRecipients } from '../chunk.ts';
import { aboutJob, dispatchIdOf, type JobHead, type Recipient } from '../job.ts';
import { composeMessage } from '../request/compose.ts';
import type { WholeJob } from './whole-job.ts';

/** A request as it goes straight into a dispatch queue, and the text of its message. */
export interface StraightRequest {
  readonly chunk: QueuedChunk;
  readonly body: string;
}

/**
 * The chunk of a request that needs no fan-out: of up to ten recipients (D25). Undefined where recipients were dropped, whose
 * end only the report can count (D41), and where it is larger than a queue message. A recipient that cannot be composed is
 * in it without a request, and fails there (R14). `limitOf`: messages a second that the number of the job may send.
 */
export async function straightRequest(
  job: WholeJob,
  limitOf: (head: JobHead) => Promise<number>,
): Promise<StraightRequest | undefined> {
  const { head, recipients, repeats = [] } = job;
  if (recipients.length > straightRecipients || repeats.length > 0) return undefined;
  const composed = recipients.map((recipient, index) => chunkRecipient(job, recipient, index));
  const chunk = { ...chunkOf(head, await limitOf(head)), slices: [{ try: 0, size: head.total, recipients: composed }] };
  const body = queueBody(chunk);
  return Buffer.byteLength(body) > queueMessageMaxBytes ? undefined : { chunk, body };
}

function chunkOf(head: JobHead, limitPerSecond: number): Omit<QueuedChunk, 'slices'> {
  const { jobId, clientId, wabaId, phoneNumberId, credential, path, category, acceptedAtMs } = head;
  const { expiresAtMs, correlationId, urgent, receiptsExpected } = head;
  return {
    version: chunkVersion,
    ...{ jobId, clientId, wabaId, phoneNumberId, credential, path, category, acceptedAtMs },
    ...present({ expiresAtMs, correlationId, urgent, receiptsExpected }),
    about: aboutJob(head),
    alone: true,
    straight: true,
    limitPerSecond,
    // The small requests of a client have one lane together (pace/reserve.ts).
    lane: '*',
  };
}

function chunkRecipient({ head, plan }: WholeJob, recipient: Recipient, index: number): ChunkRecipient {
  const { to } = recipient;
  try {
    return { index, to, request: composeMessage(plan, recipient, dispatchIdOf({ jobId: head.jobId, index })) };
  } catch {
    return { index, to };
  }
}
