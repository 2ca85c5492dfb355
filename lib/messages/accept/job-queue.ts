import type { SQSClient } from '@aws-sdk/client-sqs';
import { sendEntry } from '../../aws/sqs-batch.ts';
import { encodeJob, type JobMessage } from './job-message.ts';

export interface JobQueue {
  /**
   * Sends one message. Rejects when the queue did not confirm it: the message may still be there, because a reply can
   * be lost. `groupId` is the client, so that a client with a large backlog does not delay the others (fair queues).
   */
  send(body: string, groupId: string, signal: AbortSignal): Promise<void>;
}

/** A queue that acceptance fills: one request per message; the client's own retries may double a message, never lose it. */
export function jobQueue(client: SQSClient, url: string): JobQueue {
  return {
    send: (body, group, signal) => sendEntry({ client, url }, { body, group, delaySeconds: 0 }, signal),
  };
}

/** Sends a message of the send-job queue once more, to be delivered after so many seconds (900 at most). */
export function jobMessageSender(client: SQSClient, url: string) {
  return (job: JobMessage, delaySeconds: number): Promise<void> =>
    sendEntry({ client, url }, { body: encodeJob(job), group: String(job.clientId), delaySeconds });
}
