import type { SQSClient } from '@aws-sdk/client-sqs';
import { delayedSender } from './dispatch-queue.ts';
import type { WatchQueue } from './watch-message.ts';

export function watchQueue(client: SQSClient, queueUrl: string): WatchQueue {
  return { sendLater: delayedSender(client, queueUrl) };
}
