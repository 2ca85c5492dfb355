import type { SQSClient } from '@aws-sdk/client-sqs';
import { sendEntry } from '../../aws/sqs-batch.ts';
import type { PendingQueue } from './deliver-ports.ts';
import { encodePending } from './pending.ts';

/** The way back to the event queue. Every copy is a new message: neither its age nor its deliveries are counted on. */
export function pendingQueue(client: SQSClient, url: string): PendingQueue {
  return {
    sendLater: (pending, delaySeconds) =>
      sendEntry({ client, url }, { body: encodePending(pending), group: String(pending.event.clientId), delaySeconds }),
  };
}
