import { queueBody } from '../../aws/queue-body.ts';
import { log } from '../../observe/log.ts';
import { chunkOfDispatch, mostChunkBytes, type QueuedChunk, straightRecipients } from '../dispatch/chunk.ts';
import type { DispatchHead, Recipient } from '../dispatch/head.ts';
import type { WholeDispatch } from '../dispatch/whole-dispatch.ts';
import { composeMessage } from '../request/compose.ts';
import { composedRecipient } from './composed-recipient.ts';

/** Returns the chunk of a request of up to ten recipients, which needs no fan-out (D25); else undefined. */
export async function straightRequest(
  dispatch: WholeDispatch,
  limitOf: (head: DispatchHead) => Promise<number>,
): Promise<QueuedChunk | undefined> {
  const { head, plan, recipients, repeats = [], header } = dispatch;
  // A scheduled send may outlive a queue's retention (D56), and only a stored send can be retried (D57).
  if (head.when !== undefined || head.retryOf !== undefined) return undefined;
  // Only a report can count the end of dropped recipients (D41).
  if (recipients.length > straightRecipients || repeats.length > 0) return undefined;
  // Storing larger recipients refuses one that no item can hold.
  if (2 * Buffer.byteLength(queueBody(recipients)) > mostChunkBytes) return undefined;
  const composed = (recipient: Recipient, index: number) => ({
    ...composedRecipient(plan, recipient, { ...head, index }, { compose: composeMessage, log }),
    params: recipient.params,
  });
  return {
    // All small requests of a client share one lane (pace/reserve.ts).
    ...chunkOfDispatch(head, { limitPerSecond: await limitOf(head), lane: '*' }),
    urgent: head.urgent,
    header,
    catalogId: plan.catalogId,
    ...{ alone: true, straight: true, plannedMs: head.acceptedAtMs },
    slices: [{ try: 0, size: head.total, recipients: recipients.map(composed) }],
  };
}
