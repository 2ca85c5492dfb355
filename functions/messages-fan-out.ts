import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { deployed } from '../lib/aws/deployed.ts';
import { decodeRound } from '../lib/messages/accept/round-message.ts';
import { deployedFanOut } from '../lib/messages/deployed/fan-out.ts';
import { holdSeconds } from '../lib/messages/fan-out/dispatch-rounds.ts';
import { type FanOutPorts, fanOutDispatch } from '../lib/messages/fan-out/fan-out-dispatch.ts';
import { dispatchRetrySeconds } from '../lib/messages/pace/retry-delay.ts';
import { composeMessage } from '../lib/messages/request/compose.ts';
import { correlated } from '../lib/observe/correlation.ts';
import { errorName } from '../lib/observe/error-name.ts';
import { count, metered } from '../lib/observe/metrics.ts';

type Ports = Omit<FanOutPorts, 'remainingMs' | 'hold' | 'againAfterSeconds'> & {
  readonly postpone: (receiptHandle: string, seconds: number) => Promise<void>;
};

/**
 * From this delivery of its round on a dispatch that fails is counted: some minutes after the first failure. The age of
 * the queue's oldest message leaves it out from the next one on.
 */
const countedFromDelivery = 3;

/** Consumes the fan-out queue: turns dispatches into chunks, round by round; an unfinished round is redelivered. */
export function messagesFanOut({ postpone, ...ports }: Ports) {
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const remainingMs = () => context.getRemainingTimeInMillis();
    const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
    for (const record of event.Records) {
      if (!(await metered(() => isDone(record)))) batchItemFailures.push({ itemIdentifier: record.messageId });
    }
    return { batchItemFailures };

    async function isDone(record: SQSRecord): Promise<boolean> {
      const { receiptHandle, attributes } = record;
      // If postponing fails, the visibility time-out redelivers the message: late, not lost.
      const postponed = (seconds: number) => postpone(receiptHandle, seconds).catch(() => undefined);
      const deliveries = Number(attributes.ApproximateReceiveCount);
      const againAfterSeconds = dispatchRetrySeconds(deliveries);
      try {
        const message = decodeRound(record.body);
        const hold = () => postponed(holdSeconds);
        const end = await correlated(message.correlationId, () =>
          fanOutDispatch(message, randomUUID(), { ...ports, remainingMs, hold, againAfterSeconds }),
        );
        return end === 'done';
      } catch (error) {
        ports.log('dispatch.failed', { error: errorName(error) });
        if (deliveries >= countedFromDelivery) count('RoundsFailedAgain');
        await postponed(againAfterSeconds);
        return false;
      }
    }
  };
}

export const handler = deployed(() => messagesFanOut({ ...deployedFanOut(), compose: composeMessage }));
