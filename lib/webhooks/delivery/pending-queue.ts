import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { PendingQueue } from './deliver-ports.ts';
import { encodePending } from './pending.ts';

/** The way back to the event queue. Every copy is a new message: neither its age nor its deliveries are counted on. */
export function pendingQueue(client: SQSClient, queueUrl: string): PendingQueue {
  return {
    sendLater: async (pending, delaySeconds) => {
      await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: encodePending(pending),
          MessageGroupId: String(pending.event.clientId),
          DelaySeconds: delaySeconds,
        }),
      );
    },
  };
}
