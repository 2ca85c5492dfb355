import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../../aws/queue-body.ts';
import { sendEntry } from '../../aws/sqs-batch.ts';
import { visibilityOf } from '../../aws/sqs-visibility.ts';
import type { ChunkQueue } from './chunk-ports.ts';

/** The addresses of the queues of chunks. */
export interface ChunkQueueUrls {
  /** Of the worker's own queue. */
  readonly own: string;
  /** Of the chunks of jobs. */
  readonly dispatch: string;
}

/**
 * The queues of chunks, for a worker of one of them. Every chunk carries its client as message group: the queues are standard
 * ones, and groups are what keeps one client's backlog from delaying the others (fair queues).
 */
export function chunkQueue(client: SQSClient, urls: ChunkQueueUrls): ChunkQueue {
  return {
    sendLater: async (chunk, delaySeconds, to) => {
      const isCode = chunk.urgent === true && chunk.straight === true;
      const url = isCode && to !== 'jobs' ? urls.own : urls.dispatch;
      await sendEntry({ client, url }, { body: queueBody(chunk), group: String(chunk.clientId), delaySeconds });
    },

    postpone: visibilityOf(client, urls.own),

    // One that is not in flight any more needs no hold.
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
