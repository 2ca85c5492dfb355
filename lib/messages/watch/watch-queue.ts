import type { SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../../aws/queue-body.ts';
import { sendEntry } from '../../aws/sqs-batch.ts';
import type { ParkedWatch, ParkedWatchQueue, WatchMessage, WatchQueue } from './watch-message.ts';

export function watchQueue(client: SQSClient, url: string): WatchQueue & ParkedWatchQueue {
  return {
    sendLater: (message: WatchMessage | ParkedWatch, delaySeconds) =>
      sendEntry({ client, url }, { body: queueBody(message), group: String(message.clientId), delaySeconds }),
  };
}
