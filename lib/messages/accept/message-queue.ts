import type { SQSClient } from '@aws-sdk/client-sqs';
import { sendEntry } from '../../aws/sqs-batch.ts';

export interface MessageQueue {
  /**
   * Rejects when the queue did not confirm: the message may be there nevertheless. `groupId` is the client, so that its
   * backlog does not delay others (fair queues).
   */
  send(body: string, groupId: string, signal: AbortSignal): Promise<void>;
}

/** Sends one request per message. Retries of the SDK may double a message, never lose it. */
export function messageQueue(client: SQSClient, url: string): MessageQueue {
  return {
    send: (body, group, signal) => sendEntry({ client, url }, { body, group, delaySeconds: 0 }, signal),
  };
}
