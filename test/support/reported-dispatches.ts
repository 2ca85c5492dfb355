import { createHash } from 'node:crypto';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../lib/aws/dynamodb-batch.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import type { DispatchHead } from '../../lib/messages/dispatch/head.ts';
import type { Receipt } from '../../lib/messages/receipts/receipt.ts';
import { receiptItems } from '../../lib/messages/receipts/receipt-items.ts';
import type { Cost } from '../../lib/messages/report/cost.ts';
import { shippedRates } from '../../lib/pricing/rates.ts';
import { beginListed } from './begun-dispatches.ts';
import { makeDispatch } from './made-dispatches.ts';
import type { LoadedTable } from './scale-loading.ts';

/** Tests about other parts of a report have this cost. */
export const noCost: Cost = { units: 0, basis: 'list', final: false };

/** Returns the rates that come with the service, in the form that a report reads. */
export const shippedKnownRates = async () => [shippedRates] as const;

const expiresAtSeconds = 1_900_000_000;

/** Makes text in the form of the platform's ids, as long and as random. */
export function platformIdOf(dispatchId: string, index: number): string {
  const random = createHash('sha256').update(`${dispatchId} ${index}`).digest('hex').slice(0, 20).toUpperCase();
  return `wamid.${Buffer.from(`\u0018\u0013${recipientOf(index)}\u0015\u0002\u0011\u0018\u0012${random}`).toString('base64')}`;
}

export function recipientOf(index: number): string {
  return String(549_110_000_000 + index * 7_919);
}

/** Puts any number of items, as fast as the emulator accepts them. */
export async function putItems({ documentClient, tableName }: LoadedTable, items: readonly Item[]): Promise<void> {
  const chunks = Array.from({ length: Math.ceil(items.length / 25) }, (_, at) => items.slice(at * 25, at * 25 + 25));
  const waiting = chunks.values();
  const work = async () => {
    for (const chunk of waiting) {
      const requests = chunk.map((Item) => ({ PutRequest: { Item } }));
      await documentClient.send(new BatchWriteCommand({ RequestItems: { [tableName]: requests } }));
    }
  };
  await Promise.all([work(), work(), work(), work()]);
}

/** Stores a dispatch as acceptance leaves it. */
export async function loadDispatch({ documentClient, tableName }: LoadedTable, head: DispatchHead): Promise<void> {
  const recipients = Array.from({ length: head.total }, (_, index) => ({ to: recipientOf(index) }));
  const dispatches = acceptedDispatchesStore(tableOf(documentClient, tableName, { nowMs: () => head.acceptedAtMs }));
  await dispatches.store({ ...makeDispatch(recipients), head }, new AbortController().signal);
  await beginListed(dispatches, { head, repeats: [] });
}

/** Appends sent, delivered and read of every message, in runs of this many receipts. */
export async function loadReceipts(table: LoadedTable, head: DispatchHead, receiptsPerRun: number): Promise<void> {
  const { dispatchId, total, acceptedAtMs } = head;
  const receipts = Array.from({ length: total }, (_, index) =>
    ['sent', 'delivered', 'read'].map((status, step): Receipt => {
      const atMs = acceptedAtMs + index * 13 + step * 4_000;
      const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' };
      const facts = { dispatchId, index, status, atMs, platformMessageId: platformIdOf(dispatchId, index) };
      return step === 2 ? facts : { ...facts, pricing };
    }),
  ).flat();
  receipts.sort((a, b) => a.atMs - b.atMs);
  const runs = Array.from({ length: Math.ceil(receipts.length / receiptsPerRun) }, (_, at) =>
    receipts.slice(at * receiptsPerRun, (at + 1) * receiptsPerRun),
  );
  await putItems(
    table,
    runs.flatMap((run) => receiptItems(dispatchId, run, expiresAtSeconds)).map((item) => ({ ...item })),
  );
}
