import type { SQSClient } from '@aws-sdk/client-sqs';
import { queueBody, queueMessageMaxBytes } from '../../aws/queue-body.ts';
import { type QueueEntry, sendAtOnce } from '../../aws/sqs-batch.ts';
import { type NumberReceipts, receiptMessageVersion } from './receipt.ts';
import type { ReceiptSink } from './receive-webhook.ts';

/** Sends as few messages as possible to the receipt queue, in one round trip. */
export function receiptQueue(client: SQSClient, url: string): ReceiptSink {
  return { send: (numbers) => sendAtOnce({ client, url }, receiptEntries(numbers)) };
}

/**
 * Returns messages of one WABA each (their message group), filled up to the SQS limit. Each receipt is written as JSON
 * once and measured.
 */
export function receiptEntries(numbers: readonly NumberReceipts[]): QueueEntry[] {
  return [...Map.groupBy(numbers, ({ wabaId }) => wabaId)].flatMap(([wabaId, ofWaba]) =>
    packed(ofWaba).map((message) => ({ body: bodyOf(message), group: wabaId, delaySeconds: 0 })),
  );
}

type Packed = { readonly start: string; readonly receipts: string[] }[];

function bodyOf(numbers: Packed): string {
  const texts = numbers.map(({ start, receipts }) => `${start}${receipts.join(',')}]}`);
  return `{"version":${receiptMessageVersion},"numbers":[${texts.join(',')}]}`;
}

const emptyBytes = Buffer.byteLength(bodyOf([]));

function packed(numbers: readonly NumberReceipts[]): Packed[] {
  const messages: Packed[] = [];
  let roomBytes = 0;
  for (const { receipts, ...number } of numbers) {
    const start = queueBody({ ...number, receipts: [] }).slice(0, -']}'.length);
    const startBytes = Buffer.byteLength(start) + ']},'.length;
    let open: string[] | undefined;
    for (const receipt of receipts) {
      const text = queueBody(receipt);
      const bytes = Buffer.byteLength(text) + ','.length;
      if (bytes + (open === undefined ? startBytes : 0) > roomBytes) {
        messages.push([]);
        roomBytes = queueMessageMaxBytes - emptyBytes;
        open = undefined;
      }
      if (open === undefined) {
        open = [];
        messages.at(-1)?.push({ start, receipts: open });
        roomBytes -= startBytes;
      }
      open.push(text);
      roomBytes -= bytes;
    }
  }
  return messages;
}
