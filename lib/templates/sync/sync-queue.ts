import type { SQSClient } from '@aws-sdk/client-sqs';
import { sendEntry } from '../../aws/sqs-batch.ts';
import { encodeSync, type SyncQueue } from './sync-message.ts';

/** The queue from request to worker. The client is the message group, so that no client crowds out others. */
export function syncQueue(client: SQSClient, url: string): SyncQueue {
  const queue = { client, url };
  return {
    send: (message) =>
      sendEntry(queue, { body: encodeSync(message), group: String(message.clientId), delaySeconds: 0 }),
    sendTurn: (walk, delaySeconds) => sendEntry(queue, { body: encodeSync({ walk }), group: 'walk', delaySeconds }),
  };
}
