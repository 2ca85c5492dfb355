import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { deployed } from '../lib/aws/deployed.ts';
import { decodeSendJobMessage } from '../lib/messages/accept/send-job.ts';
import { deployedJobs } from '../lib/messages/deployed.ts';
import { type FanOutPorts, fanOut } from '../lib/messages/fan-out/fan-out.ts';
import { jobRetrySeconds } from '../lib/messages/pace/pacing.ts';
import { composeMessage } from '../lib/messages/request/compose.ts';
import { correlated } from '../lib/observe/correlation.ts';
import { metered } from '../lib/observe/metrics.ts';
import { nameOf } from '../lib/observe/name-of.ts';

type Ports = Omit<FanOutPorts, 'remainingMs'> & {
  readonly postpone: (receiptHandle: string, seconds: number) => Promise<void>;
};

/** Consumer of the send-job queue: one dispatch message per recipient; an unfinished job is delivered again. */
export function messagesFanOut({ postpone, ...ports }: Ports) {
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
        ports.log('job.failed', { error: nameOf(error) });
        const seconds = jobRetrySeconds(Number(record.attributes.ApproximateReceiveCount));
        // Not postponed, it comes again after the visibility time-out: late, not lost.
        await postpone(record.receiptHandle, seconds).catch(() => undefined);
        return false;
      }
    }
  };
}

export const handler = deployed(() => messagesFanOut({ ...deployedJobs(), compose: composeMessage }));
