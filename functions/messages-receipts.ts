import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deployed } from '../lib/aws/deployed.ts';
import { deployedReceipts } from '../lib/messages/deployed/receipts.ts';
import { processReceipts } from '../lib/messages/receipts/process-receipts.ts';
import type { ReceiptPorts } from '../lib/messages/receipts/receipt-ports.ts';
import { metered } from '../lib/observe/metrics.ts';

/** Consumes the receipt queue: records the platform's receipts (D39); reports messages to redeliver. */
export function messagesReceipts(ports: Omit<ReceiptPorts, 'remainingMs'>) {
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const remainingMs = () => context.getRemainingTimeInMillis();
    const failedIds = await metered(() => processReceipts(event.Records, { ...ports, remainingMs }));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

export const handler = deployed(() => messagesReceipts(deployedReceipts()));
