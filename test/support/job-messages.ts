import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { acceptedJobsStore } from '../../lib/messages/accept/accepted-jobs-store.ts';
import { decodeJob, type JobMessage } from '../../lib/messages/accept/job-message.ts';
import { parameterStore } from '../../lib/messages/accept/parameter-store.ts';
import { headOfChunk, type QueuedChunk, QueuedChunkSchema } from '../../lib/messages/chunk.ts';
import { sliceStore } from '../../lib/messages/dispatch/claims/slice-store.ts';
import { dispatchIdOf } from '../../lib/messages/job.ts';

/** Acceptance queues jobs for the fan-out, and chunks straight to the workers. */
export interface Queued {
  readonly jobs: readonly JobMessage[];
  readonly chunks: readonly QueuedChunk[];
}

/** Takes every message out of the send-job queue. */
export async function drainJobs(client: SQSClient, queueUrl: string): Promise<JobMessage[]> {
  return (await drain(client, queueUrl)).map(decodeJob);
}

/** Takes every message out of a queue of chunks, parsed as their workers do. */
export async function drainChunks(client: SQSClient, queueUrl: string): Promise<QueuedChunk[]> {
  return (await drain(client, queueUrl)).map((body) => v.parse(QueuedChunkSchema, JSON.parse(body)));
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

/**
 * Returns the dispatch ids that these messages send: of jobs that the fan-out can begin, and of chunks that workers can
 * claim.
 */
export async function dispatchIdsOf(
  { jobs, chunks }: Queued,
  documents: DynamoDBDocumentClient,
  table: string,
): Promise<Set<string>> {
  const accepted = acceptedJobsStore(documents, table, Date.now);
  const slices = sliceStore({ client: documents, table, nowMs: Date.now });
  const ids = new Set<string>();
  for (const { jobId } of jobs) {
    const job = await accepted.find(jobId);
    if (job === undefined || (await accepted.begin(job)) === 'withdrawn') continue;
    const { read } = parameterStore(documents, table);
    for (let index = 0; index < job.head.total; ) {
      for (const _ of await read(jobId, index)) {
        ids.add(dispatchIdOf({ jobId, index }));
        index += 1;
      }
    }
  }
  for (const chunk of chunks) {
    const { jobId, total } = headOfChunk(chunk);
    const claim = { key: { jobId, slice: 0 }, try: 0, owner: 'a worker', atMs: Date.now(), size: total };
    if ((await slices.claim(claim)).kind === 'met' || (await accepted.beginStraight(chunk)) === 'withdrawn') continue;
    for (let index = 0; index < total; index += 1) ids.add(dispatchIdOf({ jobId, index }));
  }
  return ids;
}
