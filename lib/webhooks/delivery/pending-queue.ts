import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../../aws/queue-body.ts';
import type { PendingQueue } from './deliver-ports.ts';

/** The way back to the event queue. Every copy is a new message: neither its age nor its deliveries are counted on. */
export function pendingQueue(client: SQSClient, queueUrl: string): PendingQueue {
  return {
    sendLater: async (pending, delaySeconds) => {
      await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: queueBody(pending),
          MessageGroupId: String(pending.event.clientId),
          DelaySeconds: delaySeconds,
        }),
      );
    },
  };
}
