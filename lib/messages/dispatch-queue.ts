import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { queueBody, queueMessageMaxBytes } from '../aws/queue-body.ts';
import type { DispatchQueue } from './dispatch.ts';
import type { DelayedMessage, FanOutQueue, QueueEntry } from './fan-out.ts';

/**
 * The dispatch queue. Every message carries its client as message group: the queue is a standard one, and groups are
 * what keeps one client's backlog from delaying the others (fair queues; reliability, section 2).
 */
export function dispatchQueue(client: SQSClient, queueUrl: string): DispatchQueue & FanOutQueue {
  return {
    sendLater: async (message, delaySeconds) => {
      await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: queueBody(message),
          MessageGroupId: String(message.clientId),
          DelaySeconds: delaySeconds,
        }),
      );
    },
    postpone: postponer(client, queueUrl),
    pack: packBatches,
    sendBatch: async (entries) => {
      const { Failed } = await client.send(
        new SendMessageBatchCommand({
          QueueUrl: queueUrl,
          Entries: entries.map((entry, position) => ({
            Id: String(position),
            MessageBody: entry.body,
            MessageGroupId: String(entry.clientId),
            DelaySeconds: entry.delaySeconds,
          })),
        }),
      );
      const refused = new Set((Failed ?? []).map(({ Id }) => Id));
      return entries.filter((_, position) => refused.has(String(position)));
    },
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

const batchMaxEntries = 10;

/** Packs messages in order into batches of at most 10 messages and 1 MiB (SQS). */
export function packBatches(messages: readonly DelayedMessage[]): QueueEntry[][] {
  const batches: QueueEntry[][] = [];
  let current: QueueEntry[] = [];
  let currentBytes = 0;
  for (const { message, delaySeconds } of messages) {
    const entry = { body: queueBody(message), clientId: message.clientId, delaySeconds };
    const bytes = Buffer.byteLength(entry.body);
    if (current.length === batchMaxEntries || currentBytes + bytes > queueMessageMaxBytes) {
      batches.push(current);
      current = [];
      currentBytes = 0;
    }
    current.push(entry);
    currentBytes += bytes;
  }
  if (current.length > 0) batches.push(current);
  return batches;
}
