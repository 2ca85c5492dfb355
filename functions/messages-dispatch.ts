import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deployed } from '../lib/aws/deployed.ts';
import { deployedHandover } from '../lib/messages/deployed.ts';
import { dispatchBatch } from '../lib/messages/dispatch/dispatch.ts';
import type { DispatchPorts } from '../lib/messages/dispatch/dispatch-ports.ts';
import { metered } from '../lib/observe/metrics.ts';

/** Consumer of the dispatch queue: hands each message to the platform once (D29) and reports what must come again. */
export function messagesDispatch(ports: Omit<DispatchPorts, 'invocation' | 'remainingMs'>) {
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const invocation = randomUUID();
    const remainingMs = () => context.getRemainingTimeInMillis();
    const failedIds = await metered(() => dispatchBatch(event.Records, { ...ports, invocation, remainingMs }));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

export const handler = deployed(() => messagesDispatch(deployedHandover()));
