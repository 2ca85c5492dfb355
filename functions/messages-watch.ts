import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deployed } from '../lib/aws/deployed.ts';
import { deployedWatch } from '../lib/messages/deployed/watch.ts';
import { type WatchPorts, watchDispatches } from '../lib/messages/watch/watch.ts';
import { metered } from '../lib/observe/metrics.ts';

/**
 * Consumes the watch queue: watches parked dispatches until they resume (D46), and counts the cost of dispatches (D58).
 */
export function messagesWatch(ports: WatchPorts) {
  return async (event: SQSEvent): Promise<SQSBatchResponse> => {
    const failedIds = await metered(() => watchDispatches(event.Records, ports));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

export const handler = deployed(() => messagesWatch(deployedWatch()));
