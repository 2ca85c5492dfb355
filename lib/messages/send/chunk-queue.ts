import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../../aws/queue-body.ts';
import { delayedQueue } from '../../aws/sqs-batch.ts';
import { visibilityOf } from '../../aws/sqs-visibility.ts';
import type { QueuedChunk } from '../dispatch/chunk.ts';
import type { ChunkQueue } from './chunk-ports.ts';

export interface ChunkQueueUrls {
  readonly own: string;
  readonly dispatch: string;
}

/** The client is the message group (fair queues): a backlog of one client does not delay the others. */
export function chunkQueue(client: SQSClient, urls: ChunkQueueUrls): ChunkQueue {
  const queueAt = (url: string) =>
    delayedQueue<QueuedChunk>({ client, url }, queueBody, ({ clientId }) => String(clientId));
  const [own, dispatch] = [queueAt(urls.own), queueAt(urls.dispatch)];
  return {
    sendLater: (chunk, delaySeconds, to) => {
      const isCode = chunk.urgent === true && chunk.straight === true;
      return (isCode && to !== 'dispatches' ? own : dispatch).sendLater(chunk, delaySeconds);
    },

    postpone: visibilityOf(client, urls.own),

    // A delivery that is no longer in flight needs no hold.
    hold: async (receiptHandles, seconds) => {
      await client.send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: urls.own,
          Entries: receiptHandles.map((receiptHandle, position) => ({
            Id: String(position),
            ReceiptHandle: receiptHandle,
            VisibilityTimeout: seconds,
          })),
        }),
      );
    },
  };
}
