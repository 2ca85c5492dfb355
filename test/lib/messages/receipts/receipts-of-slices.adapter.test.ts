import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { maxBatchKeys } from '../../../../lib/aws/dynamodb-limits.ts';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { dispatchKey, dispatchMemorySeconds, unknownMarkKey } from '../../../../lib/messages/dispatch/items.ts';
import { ended, type Slice } from '../../../../lib/messages/dispatch/slice.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/slice-store.ts';
import { packedAddresses } from '../../../../lib/messages/dispatch/whole-dispatch.ts';
import { addressStore } from '../../../../lib/messages/receipts/address-store.ts';
import { provenSlicesStore } from '../../../../lib/messages/receipts/proven-slices-store.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { receiptStore } from '../../../../lib/messages/receipts/receipt-store.ts';
import { unknownOutcomesStore } from '../../../../lib/messages/receipts/unknown-outcomes-store.ts';
import { injectFaults as injectDynamoFaults } from '../../../support/dynamo-faults.ts';
import { injectFaults } from '../../../support/faults.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { makeDispatch } from '../../../support/made-dispatches.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

let table: string;
const own = localDocumentClient();
const pause = async () => undefined;

beforeAll(async () => {
  table = await freshTable('messages');
});

function access(documentClient: DynamoDBDocumentClient) {
  return { client: documentClient, name: table, pause };
}

function laggingClient(): DynamoDBDocumentClient {
  const client = localDocumentClient();
  lagReads(client);
  return client;
}

async function append(dispatchId: string, indexes: readonly number[]): Promise<void> {
  const receipts = indexes.map((index): Receipt => {
    return { dispatchId, index, status: 'delivered', atMs: startMs + index, platformMessageId: `wamid.${index}` };
  });
  await receiptStore(access(own)).append({ ...scenarioHead, dispatchId, total: 10_000 }, receipts);
}

describe('a doubt', () => {
  test('is written once by a process, however many slices ask at once, and read strongly', async () => {
    const client = localDocumentClient();
    const { attempts } = injectFaults(client, () => undefined);
    const unknowns = unknownOutcomesStore(tableOf(client, table));
    const dispatch = { dispatchId: 'A', acceptedAtMs: startMs };
    await Promise.all(Array.from({ length: 5 }, () => unknowns.mark(dispatch)));
    await unknowns.mark(dispatch);
    expect(attempts.map(({ command }) => command)).toEqual(['PutItemCommand']);
    const records = receiptStore(access(laggingClient()));
    expect(await records.dispatchesWithUnknown(['A', 'B'])).toEqual(new Set(['A']));
    const { Item } = await own.send(new GetCommand({ TableName: table, Key: unknownMarkKey('A') }));
    expect(Item?.['expiresAtSeconds']).toBe(startMs / 1_000 + dispatchMemorySeconds);
  });

  test('that could not be written is tried again', async () => {
    const client = localDocumentClient();
    let broken = true;
    injectFaults(client, () => (broken ? { kind: 'fail_before' } : undefined));
    const unknowns = unknownOutcomesStore(tableOf(client, table));
    const dispatch = { dispatchId: 'C', acceptedAtMs: startMs };
    await expect(Promise.all([unknowns.mark(dispatch), unknowns.mark(dispatch)])).rejects.toThrow();
    broken = false;
    await unknowns.mark(dispatch);
    const records = receiptStore(access(own));
    expect(await records.dispatchesWithUnknown(['C'])).toEqual(new Set(['C']));
  });
});

test('a process remembers a thousand dispatches that it has marked', async () => {
  const written: unknown[] = [];
  const client = { send: async (command: unknown) => void written.push(command) };
  const unknowns = unknownOutcomesStore(tableOf(client as never, table));
  const mark = (dispatch: number) => unknowns.mark({ dispatchId: `dispatch ${dispatch}`, acceptedAtMs: startMs });
  for (let dispatch = 1; dispatch <= 1_000; dispatch += 1) await mark(dispatch);
  await mark(1);
  expect(written).toHaveLength(1_000);
  await mark(1_001);
  await mark(1);
  expect(written).toHaveLength(1_002);
});

describe('places with receipts', () => {
  test('are those of the slice alone, seen at once', async () => {
    await append('D', [10, 13, 19, 20, 999, 1_000, 1_010]);
    const { proven } = unknownOutcomesStore(tableOf(laggingClient(), table));
    const asked = [0, 1, 2, 99, 100, 101].map((slice) => proven({ dispatchId: 'D', slice }));
    const none = new Set();
    const expected = [none, new Set([0, 3, 9]), new Set([0]), new Set([9]), new Set([0]), new Set([0])];
    expect(await Promise.all(asked)).toEqual(expected);
    expect(await proven({ dispatchId: 'E', slice: 1 })).toEqual(none);
  });

  test('are read once for all slices that ask at once', async () => {
    const client = localDocumentClient();
    const { attempts } = injectFaults(client, () => undefined);
    const { proven } = unknownOutcomesStore(tableOf(client, table));
    await Promise.all([0, 1, 2].map((slice) => proven({ dispatchId: 'D', slice })));
    expect(attempts.map(({ command }) => command)).toEqual(['QueryCommand']);
  });
});

describe('slices', () => {
  async function unknownSlices(dispatchId: string, numbers: readonly number[]): Promise<Slice[]> {
    const store = sliceStore(tableOf(own, table, { nowMs: () => startMs }));
    return await Promise.all(
      numbers.map(async (slice) => {
        const claim = { key: { dispatchId, slice }, try: 0, owner: 'run-1', atMs: startMs, size: 2 };
        const claimed = await store.claim(claim);
        const over = await store.end(claimed.slice, new Map());
        return over ?? ended(claimed.slice, new Map());
      }),
    );
  }

  test('are found strongly and once, a hundred a request, also those that are left unprocessed (R32); there are no others', async () => {
    const numbers = Array.from({ length: maxBatchKeys + 2 }, (_, slice) => slice * 7);
    const slices = await unknownSlices('G', numbers);
    const client = laggingClient();
    const attempts = injectDynamoFaults(client, (operation, attempt) =>
      operation === 'BatchGetItemCommand' && attempt <= 2 ? { kind: 'unprocessed', keep: 1 } : undefined,
    );
    const store = provenSlicesStore(access(client));
    const found = await store.findAll([...numbers, 1, ...numbers].map((slice) => ({ dispatchId: 'G', slice })));
    expect(found.toSorted((one, other) => one.key.slice - other.key.slice)).toEqual(slices);
    expect(attempts.get('BatchGetItemCommand')).toBe(4);
    expect(await store.findAll([{ dispatchId: 'H', slice: 0 }])).toEqual([]);
  });
});

describe('the addresses of messages', () => {
  const dispatchOf = (dispatchId: string, total: number) =>
    makeDispatch(
      Array.from({ length: total }, (_, index) => ({ to: `549${index}` })),
      { dispatchId, acceptedAtMs: startMs },
    );

  /** Notes a client's requests, and the number of keys in each. */
  function countKeys(client: DynamoDBDocumentClient): [string, number][] {
    const asked: [string, number][] = [];
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const { RequestItems } = args.input as { RequestItems?: Record<string, { Keys: unknown[] }> };
          asked.push([String(commandName), RequestItems?.[table]?.Keys.length ?? 0]);
          return await next(args);
        },
      { step: 'initialize', name: 'countKeys' },
    );
    return asked;
  }

  test('come from the items of their dispatch that have them, in one request, and as they are now', async () => {
    const dispatches = acceptedDispatchesStore(tableOf(own, table, { nowMs: () => startMs }));
    for (const dispatch of [dispatchOf('J', 7_500), dispatchOf('K', 1)])
      await dispatches.store(dispatch, new AbortController().signal);
    const client = laggingClient();
    const asked = countKeys(client);
    const messages = [0, 2_499, 5_000, 7_499].map((index) => ({ dispatchId: 'J', index }));
    const addresses = await addressStore(access(client))([...messages, { dispatchId: 'K', index: 0 }]);
    expect(Object.fromEntries(addresses)).toEqual({
      'J-0': '5490',
      'J-2499': '5492499',
      'J-5000': '5495000',
      'J-7499': '5497499',
      'K-0': '5490',
    });
    // The request has two items of one dispatch's recipients and one of the other's, and for each a place where it
    // might have gone straight.
    expect(asked).toEqual([['BatchGetItemCommand', 5]]);
  });

  test('of a dispatch that went straight come from its own item', async () => {
    const to = packedAddresses(['5490', '5491', '5492']);
    await own.send(new PutCommand({ TableName: table, Item: { ...dispatchKey('L'), head: '{}', to } }));
    const client = laggingClient();
    const asked = countKeys(client);
    const messages = [0, 2].map((index) => ({ dispatchId: 'L', index }));
    const addresses = await addressStore(access(client))(messages);
    expect(Object.fromEntries(addresses)).toEqual({ 'L-0': '5490', 'L-2': '5492' });
    expect(asked).toEqual([['BatchGetItemCommand', 2]]);
  });

  test('of a dispatch that is not described are not known', async () => {
    await own.send(new PutCommand({ TableName: table, Item: { ...dispatchKey('O'), head: '{}' } }));
    expect(await addressStore(access(own))([{ dispatchId: 'O', index: 0 }, { dispatchId: 'P', index: 0 }])).toEqual(new Map()); // biome-ignore format: one row
  });
});
