import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../../aws/queue-body.ts';
import type { ParkedWatch, ParkedWatchQueue, WatchMessage, WatchQueue } from './watch-message.ts';

export function watchQueue(client: SQSClient, queueUrl: string): WatchQueue & ParkedWatchQueue {
  return {
    sendLater: async (message: WatchMessage | ParkedWatch, delaySeconds) => {
      await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: queueBody(message),
          MessageGroupId: String(message.clientId),
          DelaySeconds: delaySeconds,
        }),
      );
    },
  };
}
