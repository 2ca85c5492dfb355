import type { SQSClient } from '@aws-sdk/client-sqs';
import { queueBody, queueMessageMaxBytes } from '../../aws/queue-body.ts';
import { type QueueEntry, sendAtOnce } from '../../aws/sqs-batch.ts';
import type { NumberReceipts, Receipt, ReceiptMessage } from './receipt.ts';

/** Where receipts wait for whoever records them. */
export interface ReceiptSink {
  /** Resolves when all of them are queued; throws when any may not be. Whoever told them tells them again. */
  send(numbers: readonly NumberReceipts[]): Promise<void>;
}

/** The receipt queue: as few messages as there can be, in one round trip. */
export function receiptQueue(client: SQSClient, url: string): ReceiptSink {
  return { send: (numbers) => sendAtOnce({ client, url }, receiptEntries(numbers)) };
}

/** Queue messages of the receipts, each of one WABA, which is its message group, and filled up to the size that SQS takes. */
export function receiptEntries(numbers: readonly NumberReceipts[]): QueueEntry[] {
  return [...Map.groupBy(numbers, ({ wabaId }) => wabaId)].flatMap(([wabaId, ofWaba]) =>
    messagesOf(ofWaba).map((message) => ({ body: queueBody(message), group: wabaId, delaySeconds: 0 })),
  );
}

function messagesOf(numbers: readonly NumberReceipts[]): ReceiptMessage[] {
  const messages: ReceiptMessage[] = [];
  let roomBytes = 0;
  for (const { receipts, ...number } of numbers) {
    const numberBytes = bytesOf({ ...number, receipts: [] });
    let open: Receipt[] | undefined;
    for (const receipt of receipts) {
      const bytes = bytesOf(receipt);
      if (bytes + (open === undefined ? numberBytes : 0) > roomBytes) {
        messages.push({ version: 1, numbers: [] });
        roomBytes = queueMessageMaxBytes - bytesOf({ version: 1, numbers: [] });
        open = undefined;
      }
      if (open === undefined) {
        open = [];
        messages.at(-1)?.numbers.push({ ...number, receipts: open });
        roomBytes -= numberBytes;
      }
      open.push(receipt);
      roomBytes -= bytes;
    }
  }
  return messages;
}

/** What a value weighs in a message, with the comma after it. */
function bytesOf(value: unknown): number {
  return Buffer.byteLength(queueBody(value)) + 1;
}
