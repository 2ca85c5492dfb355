import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { backlogStore } from '../../../../lib/webhooks/delivery/backlog-store.ts';
import type { Pending } from '../../../../lib/webhooks/delivery/pending.ts';
import { clientPartition, waitingKey } from '../../../../lib/webhooks/items.ts';
import { makeEvent } from '../../../support/delivery-world.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const client = localDocumentClient();
const table = await freshTable('webhooks');
const list = backlogStore(client, table);

const waiting = (clientId: number, number: number, dueMs: number): Pending => ({
  ...{ event: makeEvent(clientId, number), attempts: number, firstSeenMs: 1_000, dueMs },
});

async function pagesOf(clientId: number) {
  const pages: (readonly (Pending | undefined)[])[] = [];
  for await (const page of list.pages(clientId)) pages.push(page);
  return pages;
}

test('what waits is read as it was put, in the order in which it is due, of its client alone', async () => {
  const [late, early, middle] = [waiting(1, 1, 1_800_000_000_000), waiting(1, 2, 99), waiting(1, 3, 1_000_000)];
  await Promise.all([late, early, middle, waiting(11, 4, 5)].map(list.put));
  expect(await pagesOf(1)).toEqual([[early, middle, late]]);
  await list.remove(middle);
  await list.remove(middle);
  expect(await pagesOf(1)).toEqual([[early, late]]);
});

test('put again at the same place it is there once', async () => {
  await list.put(waiting(2, 1, 5));
  await list.put({ ...waiting(2, 1, 5), attempts: 7 });
  expect(await pagesOf(2)).toMatchObject([[{ attempts: 7 }]]);
});

test('a long list comes page by page, while what was read is taken from it', async () => {
  await Promise.all(Array.from({ length: 120 }, (_, at) => list.put(waiting(3, at, at))));
  const dues: number[] = [];
  const sizes: number[] = [];
  for await (const page of list.pages(3)) {
    sizes.push(page.length);
    for (const pending of page) {
      if (pending === undefined) continue;
      dues.push(pending.dueMs);
      await list.remove(pending);
    }
  }
  expect(dues).toEqual(Array.from({ length: 120 }, (_, at) => at));
  expect(sizes.slice(0, 2)).toEqual([50, 50]);
  expect((await pagesOf(3)).flat()).toEqual([]);
});

test('what cannot be read keeps its place, and its neighbours are read', async () => {
  await list.put(waiting(4, 1, 5));
  const sk = 'WAITS#000000000000001#evt';
  await client.send(
    new PutCommand({ TableName: table, Item: { pk: clientPartition(4), sk, event: '{"type":"later"}' } }),
  );
  expect(await pagesOf(4)).toEqual([[undefined, waiting(4, 1, 5)]]);
});

test('the table forgets it ten days after it came: every event is given up before', async () => {
  await list.put(waiting(5, 1, 5));
  const Key = waitingKey(waiting(5, 1, 5));
  const { Item } = await client.send(new GetCommand({ TableName: table, Key }));
  expect(Item?.['expiresAtSeconds']).toBe(1 + 10 * 86_400);
});
