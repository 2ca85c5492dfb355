import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deployed } from '../lib/aws/deployed.ts';
import { deployedHearing } from '../lib/messages/deployed/inbound.ts';
import { type InboundPorts, workOffInbound } from '../lib/messages/inbound/work-off-inbound.ts';
import { metered } from '../lib/observe/metrics.ts';

/** Consumer of the inbound queue: records what people want and have said (D55), and reports what must come again. */
export function platformInbound(ports: InboundPorts) {
  return async (event: SQSEvent): Promise<SQSBatchResponse> => {
    const failedIds = await metered(() => workOffInbound(event.Records, ports));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

export const handler = deployed(() => platformInbound(deployedHearing()));
