import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import type { ServiceEvent } from '../../../lib/webhooks/event.ts';
import { eventRecordStore } from '../../../lib/webhooks/event-record-store.ts';
import { makeEvent } from '../../support/delivery-world.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
const table = await freshTable('webhooks');
const records = eventRecordStore(client, table);
const at = (timestampMs: number, number: number, clientId = 1001) => ({ ...makeEvent(clientId, number), timestampMs });

async function found(sinceMs: number, untilMs: number, clientId = 1001) {
  const pages: (readonly ServiceEvent[])[] = [];
  for await (const page of records.pages(clientId, { sinceMs, untilMs })) pages.push(page);
  const events = pages.flat();
  return { pages: pages.length, events, ids: events.map(({ id }) => id) };
}

test('an event is kept for seven days after it happened, whole, however often it is recorded', async () => {
  const event = at(1_800_000_000_001, 0);
  await records.record(event);
  await records.record(event);
  const key = { pk: 'CLIENT#1001', sk: `EVENT#001800000000001#${event.id}` };
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: key }));
  expect(Item).toEqual({ ...key, event: JSON.stringify(event), expiresAtSeconds: 1_800_000_001 + 7 * 86_400 });
});

test('numbers that DynamoDB does not know are kept as they are', async () => {
  const event = {
    ...makeEvent(1005),
    type: 'message.failed' as const,
    data: {
      dispatch_id: 'J',
      message_id: 'J-0',
      did: '1',
      template: { name: 'n', language: 'en' },
      attends: { waitTime: 1e300, odd: [{ deep: 1e-200 }] },
      accepted_at: '2026-10-01T00:00:00.000Z',
    },
  };
  await records.record(event);
  expect((await found(0, 2e12, 1005)).events).toEqual([event]);
});

test('a time is read with both its ends, oldest first, of one client', async () => {
  const events = [at(5_000, 1, 7), at(5_001, 2, 7), at(5_001, 3, 7), at(5_002, 4, 7), at(5_003, 5, 7), at(5_001, 6, 8)];
  for (const event of events) await records.record(event);
  const { ids } = await found(5_001, 5_002, 7);
  expect(ids.at(-1)).toBe(events[3]?.id);
  expect(new Set(ids)).toEqual(new Set([events[1]?.id, events[2]?.id, events[3]?.id]));
  expect((await found(5_004, 9_000, 7)).ids).toEqual([]);
});

test('more than a page of DynamoDB comes whole', async () => {
  const events = Array.from({ length: 130 }, (_, number) => {
    const event = at(6_000 + number, number, 9);
    return { ...event, data: { ...event.data, name: 'n'.repeat(12_000) } };
  });
  await Promise.all(events.map((event) => records.record(event as never)));
  const { pages, ids } = await found(0, 10_000, 9);
  expect(pages).toBeGreaterThan(1);
  expect(ids).toEqual(events.map(({ id }) => id));
});
