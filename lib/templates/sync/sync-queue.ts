import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { encodeSync, type SyncQueue } from './sync-message.ts';

/** The queue between the request and its worker; the client is the message group, so that no client crowds out others. */
export function syncQueue(client: SQSClient, queueUrl: string): SyncQueue {
  return {
    send: async (message) => {
      await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: encodeSync(message),
          MessageGroupId: String(message.clientId),
        }),
      );
    },
    sendTurn: async (walk, delaySeconds) => {
      await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: encodeSync({ walk }),
          MessageGroupId: 'walk',
          DelaySeconds: delaySeconds,
        }),
      );
    },
  };
}
