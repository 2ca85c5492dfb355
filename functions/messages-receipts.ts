import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deployed } from '../lib/aws/deployed.ts';
import { deployedReceipts } from '../lib/messages/deployed.ts';
import type { RecordPorts } from '../lib/messages/receipts/record-ports.ts';
import { recordReceipts } from '../lib/messages/receipts/record-receipts.ts';
import { metered } from '../lib/observe/metrics.ts';

/** Consumer of the receipt queue: records what the platform says became of messages (D39); reports what must come again. */
export function messagesReceipts(ports: Omit<RecordPorts, 'remainingMs'>) {
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const remainingMs = () => context.getRemainingTimeInMillis();
    const failedIds = await metered(() => recordReceipts(event.Records, { ...ports, remainingMs }));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

export const handler = deployed(() => messagesReceipts(deployedReceipts()));
