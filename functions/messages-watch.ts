import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deployed } from '../lib/aws/deployed.ts';
import { deployedWatch } from '../lib/messages/deployed.ts';
import { type WatchPorts, watchJobs } from '../lib/messages/outcomes/watch.ts';
import { metered } from '../lib/observe/metrics.ts';

/** Consumer of the watch queue: looks at jobs until nothing of them is pending, and tells their end (D41). */
export function messagesWatch(ports: WatchPorts) {
  return async (event: SQSEvent): Promise<SQSBatchResponse> => {
    const failedIds = await metered(() => watchJobs(event.Records, ports));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

export const handler = deployed(() => messagesWatch(deployedWatch()));
