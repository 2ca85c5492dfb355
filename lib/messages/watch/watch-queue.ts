import type { SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../../aws/queue-body.ts';
import { sendEntry } from '../../aws/sqs-batch.ts';
import type {
  CountMessage,
  CountQueue,
  ParkedWatch,
  ParkedWatchQueue,
  WatchMessage,
  WatchQueue,
} from './watch-message.ts';

export function watchQueue(client: SQSClient, url: string): WatchQueue & ParkedWatchQueue & CountQueue {
  return {
    sendLater: (message: WatchMessage | ParkedWatch | CountMessage, delaySeconds) =>
      sendEntry({ client, url }, { body: queueBody(message), group: String(message.clientId), delaySeconds }),
  };
}
