import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../../aws/queue-body.ts';
import { sendEntry } from '../../aws/sqs-batch.ts';
import { visibilityOf } from '../../aws/sqs-visibility.ts';
import type { ChunkQueue } from './chunk-ports.ts';

export interface ChunkQueueUrls {
  readonly own: string;
  readonly dispatch: string;
}

/** The client is the message group (fair queues): a backlog of one client does not delay the others. */
export function chunkQueue(client: SQSClient, urls: ChunkQueueUrls): ChunkQueue {
  return {
    sendLater: async (chunk, delaySeconds, to) => {
      const isCode = chunk.urgent === true && chunk.straight === true;
      const url = isCode && to !== 'jobs' ? urls.own : urls.dispatch;
      await sendEntry({ client, url }, { body: queueBody(chunk), group: String(chunk.clientId), delaySeconds });
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
