import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { queueBody } from '../../aws/queue-body.ts';
import { packEntries, type QueueEntry, sendEntries } from '../../aws/sqs-batch.ts';
import type { DispatchQueue } from '../dispatch/dispatch-ports.ts';
import type { DelayedMessage, FanOutQueue } from './queue-wave.ts';

/**
 * The dispatch queue. Every message carries its client as message group: the queue is a standard one, and groups are
 * what keeps one client's backlog from delaying the others (fair queues).
 */
export function dispatchQueue(client: SQSClient, queueUrl: string): DispatchQueue & FanOutQueue {
  return {
    sendLater: delayedSender(client, queueUrl),
    postpone: postponer(client, queueUrl),
    hold: holder(client, queueUrl),
    pack: packBatches,
    sendBatch: (entries) => sendEntries({ client, url: queueUrl }, entries),
  };
}

/** Queues one message of a client on the given queue, to be delivered after so many seconds. */
export function delayedSender(client: SQSClient, queueUrl: string) {
  return async (message: { readonly clientId: number }, delaySeconds: number): Promise<void> => {
    await client.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: queueBody(message),
        MessageGroupId: String(message.clientId),
        DelaySeconds: delaySeconds,
      }),
    );
  };
}

/** Sets when a delivery of the given queue becomes visible again. */
export function postponer(client: SQSClient, queueUrl: string): DispatchQueue['postpone'] {
  return async (receiptHandle, seconds) => {
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: queueUrl,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
  };
}

/** The same of up to ten deliveries. One that is not in flight any more needs no hold. */
function holder(client: SQSClient, queueUrl: string): DispatchQueue['hold'] {
  return async (receiptHandles, seconds) => {
    await client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queueUrl,
        Entries: receiptHandles.map((receiptHandle, position) => ({
          Id: String(position),
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: seconds,
        })),
      }),
    );
  };
}

/** Packs messages in order into as few batches as SQS allows. */
export function packBatches(messages: readonly DelayedMessage[]): QueueEntry[][] {
  return packEntries(
    messages.map(({ message, delaySeconds }) => ({
      body: queueBody(message),
      group: String(message.clientId),
      delaySeconds,
    })),
  );
}
