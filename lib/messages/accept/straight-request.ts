import { queueBody } from '../../aws/queue-body.ts';
import { present } from '../../keys/present.ts';
import { log } from '../../observe/log.ts';
import { chunkOfJob, mostChunkBytes, type QueuedChunk, straightRecipients } from '../chunk.ts';
import type { JobHead, Recipient } from '../job.ts';
import { composeMessage } from '../request/compose.ts';
import { composedRecipient } from './composed-recipient.ts';
import type { WholeJob } from './whole-job.ts';

/**
 * The chunk of a request that needs no fan-out: of up to ten recipients (D25). Undefined where recipients were dropped, whose
 * end only the report can count (D41), where the send has a time of its own, as it may wait longer than a queue keeps it
 * (D56), where they are larger than a chunk: storing them refuses one that no item can hold, and for a retry, which is stored
 * so that it can be retried (D57).
 * `limitOf`: messages a second that the number of the job may send.
 */
export async function straightRequest(
  job: WholeJob,
  limitOf: (head: JobHead) => Promise<number>,
): Promise<QueuedChunk | undefined> {
  const { head, plan, recipients, repeats = [] } = job;
  if (head.when !== undefined || head.retryOf !== undefined) return undefined;
  if (recipients.length > straightRecipients || repeats.length > 0) return undefined;
  if (Buffer.byteLength(queueBody(recipients)) > mostChunkBytes) return undefined;
  const composed = (recipient: Recipient, index: number) =>
    composedRecipient(plan, recipient, { ...head, index }, { compose: composeMessage, log });
  return {
    // The small requests of a client have one lane together (pace/reserve.ts).
    ...chunkOfJob(head, { limitPerSecond: await limitOf(head), lane: '*' }),
    ...present({ urgent: head.urgent }),
    ...{ alone: true, straight: true, plannedMs: head.acceptedAtMs },
    slices: [{ try: 0, size: head.total, recipients: recipients.map(composed) }],
  };
}
