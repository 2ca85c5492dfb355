import type { SQSClient } from '@aws-sdk/client-sqs';
import { sendEntry } from '../../aws/sqs-batch.ts';
import { encodeSync, type SyncQueue } from './sync-message.ts';

/** Sends requests to workers with the client as message group, so that no client crowds out others. */
export function syncQueue(client: SQSClient, url: string): SyncQueue {
  const queue = { client, url };
  return {
    send: (message) =>
      sendEntry(queue, { body: encodeSync(message), group: String(message.clientId), delaySeconds: 0 }),
    sendTurn: (walk, delaySeconds) => sendEntry(queue, { body: encodeSync({ walk }), group: 'walk', delaySeconds }),
  };
}
