import type { SQSClient } from '@aws-sdk/client-sqs';
import { sendEntry } from '../../aws/sqs-batch.ts';
import type { WakeQueue } from './deliver-ports.ts';
import { encodeWake } from './pending.ts';

/** Sends wakes to the event queue of their client. Each is a new message with its own age and receive count. */
export function wakeQueue(client: SQSClient, url: string): WakeQueue {
  return {
    wakeLater: (clientId, delaySeconds) =>
      sendEntry({ client, url }, { body: encodeWake(clientId), group: String(clientId), delaySeconds }),
  };
}
