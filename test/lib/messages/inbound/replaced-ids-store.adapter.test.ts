import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { replacedIdKey } from '../../../../lib/messages/dispatch/items.ts';
import {
  replacedIdMemorySeconds,
  replacedIdReader,
  replacedIdWriter,
} from '../../../../lib/messages/inbound/replaced-ids-store.ts';
import { injectFaults } from '../../../support/queue-faults.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const table = await freshTable('messages');
const over = (documentClient = localDocumentClient()) => ({ client: documentClient, name: table });
const find = replacedIdReader({ ...over(), pause: async () => undefined });
const note = replacedIdWriter(over());

test('of each id the latest word stays, however often and in whatever order they come', async () => {
  const [first, second, sameTime] = [
    { userId: 'US.1', by: 'US.2', atMs: 5_000 },
    { userId: 'US.1', by: 'US.3', atMs: 6_000 },
    { userId: 'US.1', by: 'US.4', atMs: 6_000 },
  ];
  for (const words of [[first], [first], [second], [first], [sameTime]]) await note('11', words);
  expect(await find('11', ['US.1', 'US.2', 'US.3'])).toEqual(new Map([['US.1', { by: 'US.3', atMs: 6_000 }]]));
  await note('12', [second, first, { userId: 'US.9', by: 'US.2', atMs: 1 }]);
  expect((await find('12', ['US.1'])).get('US.1')?.by).toBe('US.3');
});

test('what is told of one WABA says nothing of the same id in another', async () => {
  await note('21', [{ userId: 'US.1', by: 'US.2', atMs: 5_000 }]);
  expect(await find('22', ['US.1'])).toEqual(new Map());
  expect(await find('2', ['US.1'])).toEqual(new Map());
});

test('it is forgotten after 400 days', async () => {
  await note('31', [{ userId: 'US.1', by: 'US.2', atMs: 1_800_000_000_500 }]);
  const { Item } = await localDocumentClient().send(
    new GetCommand({ TableName: table, Key: replacedIdKey('31', 'US.1') }),
  );
  expect(Item).toMatchObject({ by: 'US.2', expiresAtSeconds: 1_800_000_001 + replacedIdMemorySeconds });
});

test('hundreds of the longest ids are noted and found', async () => {
  const replaced = Array.from({ length: 250 }, (_, at) => ({
    ...{ userId: `US.ENT.${String(at).padStart(128, 'a')}`, by: `US.${String(at).padStart(128, 'b')}`, atMs: 5_000 },
  }));
  await note('41', replaced);
  const found = await find('41', replaced.map(({ userId }) => userId)); // biome-ignore format: one row
  expect(found).toEqual(new Map(replaced.map(({ userId, by, atMs }) => [userId, { by, atMs }])));
});

test('a write that fails is told, so that all of it comes again', async () => {
  const client = localDocumentClient();
  injectFaults(client, ({ number }) => (number >= 3 ? 'before' : undefined));
  const words = Array.from({ length: 5 }, (_, at) => ({ userId: `US.${at}`, by: 'US.9', atMs: 1 }));
  await expect(replacedIdWriter(over(client))('51', words)).rejects.toThrow();
});
