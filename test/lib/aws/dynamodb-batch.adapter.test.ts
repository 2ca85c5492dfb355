import { type BatchGetCommandInput, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { batchGet, batchGetAcross, batchPut, queryPartition, transactWrite } from '../../../lib/aws/dynamodb-batch.ts';
import { tableOf } from '../../../lib/aws/table.ts';
import { injectFaults } from '../../support/dynamo-faults.ts';
import { faultOf } from '../../support/model/race-faults.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

test('a partition of several megabytes is read to its end', async () => {
  const documentClient = localDocumentClient();
  const tableName = await freshTable('templates');
  const filling = 'x'.repeat(300_000);
  const keys = Array.from({ length: 8 }, (_, index) => ({ pk: 'C#1#0', sk: `key ${index}` }));
  await Promise.all(
    [...keys, { pk: 'C#1#1', sk: 'of another partition' }].map((key) =>
      documentClient.send(new PutCommand({ TableName: tableName, Item: { ...key, filling } })),
    ),
  );
  const attempts = injectFaults(documentClient, () => undefined);
  const items = await queryPartition(tableOf(documentClient, tableName, { pause: async () => undefined }), 'C#1#0');
  expect(items.map((item) => item['sk'])).toEqual(keys.map(({ sk }) => sk));
  expect(attempts.get('QueryCommand')).toBeGreaterThan(1);
});

test('a transaction that is repeated after its reply was lost is its own, also when the repetition met a conflict', async () => {
  const documentClient = localDocumentClient();
  const tableName = await freshTable('templates');
  const attempts = injectFaults(documentClient, (operation, attempt) =>
    faultOf(['reply lost', 'conflict'], operation, attempt),
  );
  const put = {
    TableName: tableName,
    Item: { pk: 'C#1#0', sk: 'key' },
    ConditionExpression: 'attribute_not_exists(pk)',
  };
  const refused = await transactWrite(tableOf(documentClient, tableName, { pause: async () => undefined }), [
    { Put: put },
  ]);
  expect(refused).toBeUndefined();
  expect(attempts.get('TransactWriteItemsCommand')).toBe(3);
});

/**
 * The table takes only the first items of each batch and returns the rest, this many times, as a throttled table does.
 */
function leaveUnprocessed(client: ReturnType<typeof localDocumentClient>, times: number): number[] {
  const sizes: number[] = [];
  client.middlewareStack.add(
    (next) => async (args) => {
      const requests = (args.input as { RequestItems: Record<string, unknown[]> }).RequestItems;
      const [[table, items] = ['', []]] = Object.entries(requests);
      sizes.push(items.length);
      const rest = sizes.length > times ? [] : items.slice(5);
      const taken = { RequestItems: { [table]: items.slice(0, items.length - rest.length) } };
      const result = await next({ ...args, input: taken as typeof args.input });
      Object.assign(result.output as object, rest.length === 0 ? {} : { UnprocessedItems: { [table]: rest } });
      return result;
    },
    { step: 'initialize', name: 'leaveUnprocessed', priority: 'high' },
  );
  return sizes;
}

const keyOf = (index: number) => ({ pk: 'C#1#0', sk: `key ${String(index).padStart(2, '0')}` });

test('items are written in twenty-fives, and those that were left unprocessed once more', async () => {
  const documentClient = localDocumentClient();
  const table = { name: await freshTable('templates'), pause: async () => undefined };
  const items = Array.from({ length: 60 }, (_, index) => ({ ...keyOf(index), index }));
  const sizes = leaveUnprocessed(documentClient, 2);
  await batchPut({ ...table, client: documentClient }, items);
  expect(sizes.toSorted((one, other) => one - other)).toEqual([10, 20, 20, 25, 25]);
  const read = { ...table, client: localDocumentClient() };
  expect(await queryPartition(read, 'C#1#0')).toEqual(items);

  await batchPut(read, [{ ...keyOf(0), index: 100 }]);
  expect(await batchGet(read, [keyOf(0)], { consistent: true })).toEqual([{ ...keyOf(0), index: 100 }]);
});

test('a table that goes on to take nothing is told as a failure', async () => {
  const documentClient = localDocumentClient();
  documentClient.middlewareStack.add(
    () => async (args) => {
      const { RequestItems } = args.input as { RequestItems: object };
      return { response: {}, output: { $metadata: {}, UnprocessedItems: RequestItems } as never };
    },
    { step: 'initialize', name: 'takesNothing', priority: 'high' },
  );
  const writing = batchPut(tableOf(documentClient, 'any', { pause: async () => undefined }), [keyOf(0)]);
  await expect(writing).rejects.toThrow(/stayed unprocessed/);
});

test('items of several tables are one request, and keys that were left unprocessed are asked for again, as strongly', async () => {
  const documentClient = localDocumentClient();
  const [one, other] = [await freshTable('templates'), await freshTable('directory')];
  const pauses: number[] = [];
  const pause = async (attempt: number) => void pauses.push(attempt);
  for (const name of [one, other]) {
    await batchPut(
      { client: documentClient, name, pause },
      [0, 1].map((index) => ({ ...keyOf(index), name })),
    );
  }
  const asked: BatchGetCommandInput[] = [];
  documentClient.middlewareStack.add(
    (next) => async (args) => {
      const input = args.input as BatchGetCommandInput;
      asked.push(input);
      if (asked.length > 1) return await next(args);
      const left = { [other]: { Keys: [keyOf(0)] } };
      const result = await next({ ...args, input: { RequestItems: { [one]: input.RequestItems?.[one] } } as never });
      Object.assign(result.output as object, { UnprocessedKeys: left });
      return result;
    },
    { step: 'initialize', name: 'leaveUnread', priority: 'high' },
  );
  const keys = { [one]: [keyOf(0), keyOf(9)], [other]: [keyOf(0)], none: [] };
  expect(await batchGetAcross({ client: documentClient, pause }, keys, { consistent: true })).toEqual({
    [one]: [{ ...keyOf(0), name: one }],
    [other]: [{ ...keyOf(0), name: other }],
  });
  expect(asked.map(({ RequestItems }) => RequestItems)).toEqual([
    {
      [one]: { Keys: [keyOf(0), keyOf(9)], ConsistentRead: true },
      [other]: { Keys: [keyOf(0)], ConsistentRead: true },
    },
    { [other]: { Keys: [keyOf(0)], ConsistentRead: true } },
  ]);
  expect(pauses).toEqual([1]);
});

test('keys that stay unprocessed are told as a failure, with their tables', async () => {
  const documentClient = localDocumentClient();
  documentClient.middlewareStack.add(
    () => async (args) => {
      const { RequestItems } = args.input as BatchGetCommandInput;
      return { response: {}, output: { $metadata: {}, UnprocessedKeys: RequestItems } as never };
    },
    { step: 'initialize', name: 'givesNothing', priority: 'high' },
  );
  const access = { client: documentClient, pause: async () => undefined };
  const reading = batchGetAcross(access, { one: [keyOf(0), keyOf(1)], other: [keyOf(0)] }, { consistent: true });
  await expect(reading).rejects.toThrow('2 keys of one and 1 keys of other stayed unprocessed');
});
