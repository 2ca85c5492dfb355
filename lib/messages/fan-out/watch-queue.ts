import type { SQSClient } from '@aws-sdk/client-sqs';
import { delayedSender } from './dispatch-queue.ts';
import type { ParkedWatchQueue, WatchQueue } from './watch-message.ts';

export function watchQueue(client: SQSClient, queueUrl: string): WatchQueue & ParkedWatchQueue {
  return { sendLater: delayedSender(client, queueUrl) };
}
