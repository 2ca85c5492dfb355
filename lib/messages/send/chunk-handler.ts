import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { metered } from '../../observe/metrics.ts';
import type { ChunkWorkerPorts, RunProcess } from './chunk-ports.ts';
import { processBatch } from './process-batch.ts';
import { firstHeartbeatOf, startHeartbeat } from './visibility-heartbeat.ts';

export type DeployedWorker = Omit<ChunkWorkerPorts, 'process'> & {
  readonly process: Omit<RunProcess, 'invocation' | 'remainingMs'>;
};

/** Consumes a queue of chunks: calls each recipient once (D29) and reports the deliveries that must come again. */
export function messagesDispatch(ports: DeployedWorker) {
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const invocation = randomUUID();
    const remainingMs = () => context.getRemainingTimeInMillis();
    const held = startHeartbeat(
      event.Records,
      { ...ports.process, queue: ports.queue },
      firstHeartbeatOf(event.Records, ports),
    );
    const queue = { ...ports.queue, postpone: held.postpone };
    const process = { ...ports.process, invocation, remainingMs };
    const failedIds = await metered(() => processBatch(event.Records, { ...ports, queue, process }));
    await held.end(failedIds);
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}
