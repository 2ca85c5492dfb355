import { setTimeout as pause } from 'node:timers/promises';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { queueClient } from '../lib/aws/sqs.ts';
import { decodeSendJobMessage } from '../lib/messages/accept/send-job.ts';
import { dispatchStore } from '../lib/messages/dispatch/dispatch-store.ts';
import { dispatchQueue, postponer } from '../lib/messages/fan-out/dispatch-queue.ts';
import { type FanOutPorts, fanOut } from '../lib/messages/fan-out/fan-out.ts';
import { jobStore } from '../lib/messages/fan-out/job-store.ts';
import { jobRetrySeconds } from '../lib/messages/pace/pacing.ts';
import { composeMessage } from '../lib/messages/request/compose.ts';
import { correlated } from '../lib/observe/correlation.ts';
import { log } from '../lib/observe/log.ts';
import { metered } from '../lib/observe/metrics.ts';
import { eventQueue } from '../lib/webhooks/event-queue.ts';

type Collaborators = Omit<FanOutPorts, 'remainingMs'> & {
  readonly postpone: (receiptHandle: string, seconds: number) => Promise<void>;
};

/** Consumer of the send-job queue: one dispatch message per recipient; an unfinished job is delivered again. */
export function messagesFanOut({ postpone, ...ports }: Collaborators) {
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const remainingMs = () => context.getRemainingTimeInMillis();
    const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
    for (const record of event.Records) {
      if (!(await metered(() => isDone(record)))) batchItemFailures.push({ itemIdentifier: record.messageId });
    }
    return { batchItemFailures };

    async function isDone(record: SQSRecord): Promise<boolean> {
      try {
        const job = decodeSendJobMessage(record.body);
        const sentAtMs = Number(record.attributes.SentTimestamp);
        const { correlationId } = job.head;
        const ending = await correlated(correlationId, () => fanOut(job, sentAtMs, { ...ports, remainingMs }));
        if (ending.end === 'again') await postpone(record.receiptHandle, ending.afterSeconds);
        return ending.end === 'done';
      } catch (error) {
        ports.log('job.failed', { error: error instanceof Error ? error.name : 'unknown' });
        const seconds = jobRetrySeconds(Number(record.attributes.ApproximateReceiveCount));
        // Not postponed, it comes again after the visibility time-out: late, not lost.
        await postpone(record.receiptHandle, seconds).catch(() => undefined);
        return false;
      }
    }
  };
}

const client = documentClient();
const table = environmentVariable('MESSAGES_TABLE');
const sqs = queueClient();

export const handler = messagesFanOut({
  jobs: jobStore(client, table),
  claims: dispatchStore({ client, table, nowMs: Date.now }),
  queue: dispatchQueue(sqs, environmentVariable('DISPATCH_QUEUE_URL')),
  events: eventQueue(sqs, environmentVariable('EVENT_QUEUE_URL')),
  postpone: postponer(sqs, environmentVariable('SEND_JOB_QUEUE_URL')),
  compose: composeMessage,
  nowMs: Date.now,
  random: Math.random,
  pause: (ms) => pause(ms),
  log,
});
