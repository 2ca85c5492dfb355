import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { encodeJob, type JobMessage } from './job-message.ts';

export interface JobQueue {
  /**
   * Sends one message. Rejects when the queue did not confirm it: the message may still be there, because a reply can
   * be lost. `groupId` is the client, so that a client with a large backlog does not delay the others (fair queues).
   */
  send(body: string, groupId: string, signal: AbortSignal): Promise<void>;
}

/** A queue that acceptance fills: one request per message; the client's own retries may double a message, never lose it. */
export function jobQueue(client: SQSClient, queueUrl: string): JobQueue {
  return {
    send: async (body, groupId, signal) => {
      await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body, MessageGroupId: groupId }), {
        abortSignal: signal,
      });
    },
  };
}

/** Sends a message of the send-job queue once more, to be delivered after so many seconds (900 at most). */
export function jobMessageSender(client: SQSClient, queueUrl: string) {
  return async (job: JobMessage, delaySeconds: number): Promise<void> => {
    await client.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: encodeJob(job),
        MessageGroupId: String(job.clientId),
        DelaySeconds: delaySeconds,
      }),
    );
  };
}
