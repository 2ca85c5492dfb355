import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deployed } from '../lib/aws/deployed.ts';
import { deployedCounting } from '../lib/messages/deployed/spend.ts';
import { type CountingPorts, countLater } from '../lib/messages/spend/later-counts.ts';
import { metered } from '../lib/observe/metrics.ts';

/** Consumes the queue of counts: counts what dispatches cost, when it is due (D58). */
export function spendCount(ports: CountingPorts) {
  return async (event: SQSEvent): Promise<SQSBatchResponse> => {
    const failedIds = await metered(() => countLater(event.Records, ports));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

export const handler = deployed(() => spendCount(deployedCounting()));
