import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import { workerSharesKey } from '../../../../lib/messages/items.ts';
import { workerDemandStore } from '../../../../lib/messages/pace/worker-shares-store.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const nowMs = 1_800_000_000_000;
let table: string;

beforeEach(async () => {
  table = await freshTable('messages');
});

function demand(clientId: number, phoneNumberId: string, perSecond = 72, untilMs = nowMs + 20_000) {
  return { clientId, phoneNumberId, perSecond, untilMs };
}

async function stored() {
  const { Item } = await localDocumentClient().send(new GetCommand({ TableName: table, Key: workerSharesKey }));
  return Item ?? {};
}

test('of a hundred who tell at once every demand is there, and the last one sees all', async () => {
  const told = Array.from({ length: 100 }, (_, client) => demand(client, 'n'));
  await Promise.all(told.map((each) => workerDemandStore(localDocumentClient(), table).tell(each, nowMs)));
  const all = await workerDemandStore(localDocumentClient(), table).tell(demand(1, 'n', 5), nowMs);
  expect(all).toHaveLength(100);
  expect(all.find(({ clientId }) => clientId === 1)).toEqual(demand(1, 'n', 5));
});

test('whose time is over counts no more, and is taken out of the item', async () => {
  const store = workerDemandStore(localDocumentClient(), table);
  await store.tell(demand(1, 'a'), nowMs);
  await store.tell(demand(1, 'b', 36.5, nowMs + 40_000), nowMs);
  const left = await store.tell(demand(2, 'a', 9, nowMs + 60_000), nowMs + 20_000);
  expect(left.toSorted((one, other) => one.clientId - other.clientId)).toEqual([
    demand(1, 'b', 36.5, nowMs + 40_000),
    demand(2, 'a', 9, nowMs + 60_000),
  ]);
  expect(Object.keys(await stored()).toSorted()).toEqual(['demand#1#b', 'demand#2#a', 'expiresAtSeconds', 'pk', 'sk']);
  expect(await stored()).toMatchObject({ expiresAtSeconds: (nowMs + 20_000) / 1_000 + 30 * 86_400 });
});
