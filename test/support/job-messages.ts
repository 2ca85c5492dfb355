import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { decodeSendJobMessage, type SendJob } from '../../lib/messages/accept/send-job.ts';
import { jobStore } from '../../lib/messages/fan-out/job-store.ts';
import { type DispatchMessage, DispatchMessageSchema, dispatchIdOf } from '../../lib/messages/job.ts';

/** Takes every message out of the send-job queue. */
export async function drainJobs(client: SQSClient, queueUrl: string): Promise<SendJob[]> {
  return (await drain(client, queueUrl)).map(decodeSendJobMessage);
}

/** Takes every message out of a queue of messages, parsed as the dispatch does. */
export async function drainMessages(client: SQSClient, queueUrl: string): Promise<DispatchMessage[]> {
  return (await drain(client, queueUrl)).map((body) => v.parse(DispatchMessageSchema, JSON.parse(body)));
}

async function drain(client: SQSClient, queueUrl: string): Promise<string[]> {
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0 }),
    );
    if (Messages.length === 0) return bodies;
    for (const { Body = '', ReceiptHandle } of Messages) {
      bodies.push(Body);
      await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
    }
  }
}

/** The dispatch ids that the fan-out makes of these messages: committed parts of jobs that were not withdrawn. */
export async function dispatchIdsOf(
  jobs: readonly SendJob[],
  documents: DynamoDBDocumentClient,
  table: string,
): Promise<Set<string>> {
  const store = jobStore(documents, table);
  const ids = new Set<string>();
  for (const { head, part, firstIndex, recipients } of jobs) {
    if (part !== undefined && !(await store.isCommitted(head.jobId))) continue;
    if ((await store.begin(head, part?.number ?? 1)) === undefined) continue;
    for (const offset of recipients.keys()) ids.add(dispatchIdOf({ jobId: head.jobId, index: firstIndex + offset }));
  }
  return ids;
}
