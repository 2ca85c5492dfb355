import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { holdStore } from '../../lib/messages/holds/hold-store.ts';
import { addressStore } from '../../lib/messages/receipts/address-store.ts';
import { foldReceipts } from '../../lib/messages/receipts/fold-receipts.ts';
import { processReceipts } from '../../lib/messages/receipts/process-receipts.ts';
import { provenSlicesStore } from '../../lib/messages/receipts/proven-slices-store.ts';
import type { Receipt, ReceiptMessage } from '../../lib/messages/receipts/receipt.ts';
import { receiptStore } from '../../lib/messages/receipts/receipt-store.ts';
import { eventId, type SubscribedTypes } from '../../lib/webhooks/event.ts';
import { beginListed } from './begun-dispatches.ts';
import { seededRandom } from './faults.ts';
import { makeDispatch, makeRecipients } from './made-dispatches.ts';
import type { MemoryEvents } from './memory-events.ts';
import { noStops } from './memory-opt-outs.ts';
import { noCosts } from './no-costs.ts';
import { meterRequests } from './request-meter.ts';
import { scenarioHead, startMs } from './scenario-dispatch.ts';

const statuses = ['sent', 'delivered', 'read'] as const;
/** The function has this batch size (infra/function-shapes/messages.ts). */
const batchSize = 500;

interface Bulk {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly dispatchId: string;
  readonly messages: number;
  readonly wanted: SubscribedTypes;
  readonly events: MemoryEvents;
  /** A queue message holds the receipts of one post. */
  readonly together?: number;
  /** Each receipt comes once. */
  readonly undoubled?: boolean;
}

/**
 * Records three receipts for each message of a dispatch, shuffled, half of them duplicated, one per queue message.
 * Returns their number, their cost, messages that are not stored as read, and, with `events`, missing events and events
 * with wrong ids.
 */
export async function recordInBulk(bulk: Bulk) {
  const { client, table, dispatchId, messages, wanted, events, together = 1, undoubled = false } = bulk;
  const dispatch = makeDispatch(makeRecipients(messages), { ...scenarioHead, dispatchId, total: messages });
  const { head } = dispatch;
  const dispatches = acceptedDispatchesStore(tableOf(client, table, { nowMs: () => startMs }));
  await dispatches.store(dispatch, new AbortController().signal);
  await beginListed(dispatches, { head, repeats: [] });
  const once = Array.from({ length: messages }, (_, index) =>
    statuses.map((status) => ({
      dispatchId,
      index,
      status,
      atMs: startMs,
      platformMessageId: `wamid.${index * 7_919}`,
    })),
  ).flat();
  const random = seededRandom(39);
  const doubled = undoubled ? [] : once.filter(() => random() < 0.5);
  const shuffled = [...once, ...doubled]
    .map((receipt) => ({ receipt, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ receipt }) => receipt);
  const queued = Array.from({ length: Math.ceil(shuffled.length / together) }, (_, place) => {
    const receipts = shuffled.slice(place * together, (place + 1) * together);
    return { messageId: String(place), body: JSON.stringify(messageOf(receipts)) };
  });
  const access = tableOf(client, table, { pause: async () => undefined });
  const records = receiptStore(access);
  const meter = meterRequests(client);
  for (let first = 0; first < queued.length; first += batchSize) {
    const failed = await processReceipts(queued.slice(first, first + batchSize), {
      records,
      slices: provenSlicesStore(access),
      addressesOf: addressStore(access),
      changeHolds: holdStore(tableOf(client, table, { nowMs: () => startMs })).change,
      wanted,
      ...{ events, inbound: noStops.inbound, countCost: noCosts.countCost },
      nowMs: () => startMs,
      remainingMs: () => 60_000,
      log: () => undefined,
    });
    if (failed.length > 0) throw new Error(`${failed.length} queue messages came to nothing`);
  }
  const cost = meter.taken();
  const groups = Array.from({ length: Math.ceil(messages / 1_000) }, (_, group) => records.ofGroup(dispatchId, group));
  const stored = Map.groupBy((await Promise.all(groups)).flat(), ({ index }) => index);
  const lost = Array.from({ length: messages }, (_, index) => foldReceipts(stored.get(index) ?? [])?.proof !== 'read');
  const told = new Set(events.sent.map(({ id }) => id));
  const expected = new Set(
    once.map(({ index, status }) => eventId(`message.${status}`, head.clientId, [`${dispatchId}-${index}`])),
  );
  return {
    receipts: once.length,
    runs: Math.ceil(queued.length / batchSize),
    cost,
    writes: cost.writes,
    lost: lost.filter(Boolean).length,
    eventsLost: [...expected].filter((id) => !told.has(id)).length,
    eventsUnexpected: [...told].filter((id) => !expected.has(id)).length,
  };
}

function messageOf(receipts: readonly Receipt[]): ReceiptMessage {
  const { wabaId, phoneNumberId } = scenarioHead;
  return { version: 1, numbers: [{ wabaId, phoneNumberId, receipts: [...receipts] }] };
}
