import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deployed, deployedDirectory } from '../lib/access/deployed.ts';
import { deployedInboundProcessing } from '../lib/messages/deployed/inbound.ts';
import { type InboundPorts, processInbound } from '../lib/messages/inbound/process-inbound.ts';
import { metered } from '../lib/observe/metrics.ts';

/**
 * Consumes the inbound queue: records people's wishes and answers (D55), tells clients, and reports messages to
 * redeliver.
 */
export function platformInbound(ports: Omit<InboundPorts, 'remainingMs'>) {
  return async (event: SQSEvent, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<SQSBatchResponse> => {
    const remainingMs = () => context.getRemainingTimeInMillis();
    const failedIds = await metered(() => processInbound(event.Records, { ...ports, remainingMs }));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

export const handler = deployed(() => platformInbound({ ...deployedDirectory(), ...deployedInboundProcessing() }));
