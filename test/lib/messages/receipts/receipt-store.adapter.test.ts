import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { dispatchKey } from '../../../../lib/messages/dispatch/items.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { receiptStore } from '../../../../lib/messages/receipts/receipt-store.ts';
import { defaultEventTypes, type EventType, eventTypes } from '../../../../lib/webhooks/event.ts';
import { beginListed } from '../../../support/begun-dispatches.ts';
import { recordInBulk } from '../../../support/bulk-receipts.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { thorough } from '../../../support/thorough.ts';

/** receipts-of-slices.adapter.test.ts tests what receipts and workers exchange in the table. */

const table = await freshTable('messages');
const own = localDocumentClient();

function storeOver(documentClient = own) {
  return receiptStore(tableOf(documentClient, table, { pause: async () => undefined }));
}

function receipt(dispatchId: string, index: number, status = 'delivered'): Receipt {
  return { dispatchId, index, status, atMs: startMs + index, platformMessageId: `wamid.${index}` };
}

function headOf(dispatchId: string, total = 1_000) {
  return { ...scenarioHead, dispatchId, total };
}

test('receipts that are appended twice are there once, and seen at once', async () => {
  const receipts = [receipt('A', 0), receipt('A', 1_000), receipt('A', 1, 'read')];
  await storeOver().append(headOf('A', 2_000), receipts);
  await storeOver().append(headOf('A', 2_000), receipts.toReversed());
  const lagging = localDocumentClient();
  lagReads(lagging);
  const store = storeOver(lagging);
  expect(await store.ofGroup('A', 0)).toEqual([receipts[0], receipts[2]]);
  expect(await store.ofGroup('A', 1)).toEqual([receipts[1]]);
  expect(await store.ofGroup('A', 2)).toEqual([]);
});

test('of dispatches there are those that began, those that cannot be read, and no others', async () => {
  await beginListed(acceptedDispatchesStore(tableOf(own, table, { nowMs: () => startMs })), {
    head: headOf('H'),
    repeats: [],
  });
  await own.send(new PutCommand({ TableName: table, Item: { ...dispatchKey('I'), withdrawnAtMs: 1 } }));
  await own.send(new PutCommand({ TableName: table, Item: { ...dispatchKey('K'), head: '{"dispatchId":7}' } }));
  const heads = await storeOver().findHeads(['H', 'I', 'K', 'L']);
  expect(heads).toEqual(
    new Map<string, unknown>([
      ['H', headOf('H')],
      ['K', 'unreadable'],
    ]),
  );
});

test.runIf(thorough)(
  '30,000 receipts of one dispatch, shuffled and doubled, take at most a write for ten, and none is lost',
  async () => {
    const events = new MemoryEvents();
    const wanted = async () => defaultEventTypes;
    const bulk = { client: localDocumentClient(), table, dispatchId: 'BULK', messages: 10_000, wanted, events };
    const { receipts, writes, lost } = await recordInBulk(bulk);
    expect(receipts).toBe(30_000);
    expect(writes).toBeGreaterThan(0);
    expect(writes / receipts).toBeLessThanOrEqual(0.1);
    expect(lost).toBe(0);
    expect(events.sent).toEqual([]);
  },
);

test('where each step is wanted, each is told under its one id, and nothing else is', async () => {
  const events = new MemoryEvents();
  const wanted = async () => new Set(eventTypes as EventType[]);
  const bulk = { client: localDocumentClient(), table, dispatchId: 'TOLD', messages: 1_000, wanted, events };
  expect(await recordInBulk(bulk)).toMatchObject({ receipts: 3_000, eventsLost: 0, eventsUnexpected: 0 });
});
