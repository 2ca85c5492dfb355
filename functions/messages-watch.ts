import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deployed } from '../lib/aws/deployed.ts';
import { deployedWatch } from '../lib/messages/deployed/watch.ts';
import { type WatchPorts, watchJobs } from '../lib/messages/watch/watch.ts';
import { metered } from '../lib/observe/metrics.ts';

/** Consumer of the watch queue: looks at jobs until they have ended, and tells it (D41), at parked ones until they go on (D46). */
export function messagesWatch(ports: WatchPorts) {
  return async (event: SQSEvent): Promise<SQSBatchResponse> => {
    const failedIds = await metered(() => watchJobs(event.Records, ports));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

export const handler = deployed(() => messagesWatch(deployedWatch()));
