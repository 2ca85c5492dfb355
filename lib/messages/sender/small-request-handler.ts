import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { metered } from '../../observe/metrics.ts';
import type { RunProcess } from '../send/sending-ports.ts';
import { firstHeartbeatOf, startHeartbeat, type VisibilityQueue } from '../send/visibility-heartbeat.ts';
import { type SmallRequestsPorts, sendSmallRequests } from './small-requests.ts';

export type DeployedSmallRequests = Omit<SmallRequestsPorts, 'process'> & {
  readonly process: Omit<RunProcess, 'invocation' | 'remainingMs'>;
  readonly queue: VisibilityQueue;
};

/** Consumes the queue of small requests and reports the deliveries that must come again. */
export function smallRequestsHandler({ queue, ...ports }: DeployedSmallRequests) {
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const remainingMs = () => context.getRemainingTimeInMillis();
    const held = startHeartbeat(event.Records, { ...ports.process, queue }, firstHeartbeatOf(event.Records));
    const process = { ...ports.process, invocation: randomUUID(), remainingMs };
    const failedIds = await metered(() => sendSmallRequests(event.Records, { ...ports, process }));
    await held.end(failedIds);
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}
