import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { metered } from '../../observe/metrics.ts';
import { firstHoldOf, holdDeliveries } from '../dispatch/held-deliveries.ts';
import type { ChunkWorkerPorts } from './chunk-ports.ts';
import { workChunks } from './work-chunks.ts';

/** Consumer of a queue of chunks: calls each recipient once (D29) and reports what must come again. */
export function messagesDispatch(ports: Omit<ChunkWorkerPorts, 'invocation' | 'remainingMs'>) {
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const invocation = randomUUID();
    const remainingMs = () => context.getRemainingTimeInMillis();
    const held = holdDeliveries(event.Records, ports, firstHoldOf(event.Records, ports));
    const queue = { ...ports.queue, postpone: held.postpone };
    const failedIds = await metered(() => workChunks(event.Records, { ...ports, queue, invocation, remainingMs }));
    await held.end(failedIds);
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}
