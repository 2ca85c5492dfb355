import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deployed } from '../lib/aws/deployed.ts';
import { metered } from '../lib/observe/metrics.ts';
import { deliverBatch } from '../lib/webhooks/delivery/deliver.ts';
import type { DeliverPorts } from '../lib/webhooks/delivery/deliver-ports.ts';
import { deployedDeliveries } from '../lib/webhooks/deployed.ts';

/** Consumes the event queue: records each event and posts it to its client (D34); reports messages to redeliver. */
export function eventsDeliver(ports: Omit<DeliverPorts, 'remainingMs'>) {
  return async (event: SQSEvent, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<SQSBatchResponse> => {
    const remainingMs = () => context.getRemainingTimeInMillis();
    const failedIds = await metered(() => deliverBatch(event.Records, { ...ports, remainingMs }));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

export const handler = deployed(() => eventsDeliver(deployedDeliveries()));
