import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { metered } from '../../observe/metrics.ts';
import { dispatchBatch } from './dispatch.ts';
import type { DispatchPorts } from './dispatch-ports.ts';
import { firstHoldMs, holdDeliveries } from './held-deliveries.ts';

/**
 * Consumer of a queue of messages: hands each to the platform once (D29) and reports what must come again. From `holdAfterMs`
 * on, a run that dies costs half a minute.
 */
export function messagesDispatch(
  ports: Omit<DispatchPorts, 'invocation' | 'remainingMs'>,
  holdAfterMs: number = firstHoldMs.other,
) {
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const invocation = randomUUID();
    const remainingMs = () => context.getRemainingTimeInMillis();
    const held = holdDeliveries(event.Records, ports, holdAfterMs);
    const queue = { ...ports.queue, postpone: held.postpone };
    const failedIds = await metered(() => dispatchBatch(event.Records, { ...ports, queue, invocation, remainingMs }));
    await held.end(failedIds);
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}
