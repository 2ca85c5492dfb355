import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { leaseStore } from '../../../../lib/access/budget/lease-store.ts';
import { type LeaseCounter, leasedBudget } from '../../../../lib/access/budget/leased-budget.ts';
import { documentClient } from '../../../../lib/aws/dynamodb.ts';
import { countedBy } from '../../../support/counted.ts';
import { leasesInMemory } from '../../../support/memory-leases.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const client = localDocumentClient();
const minute = { clientId: 1001, userId: 'u-1', window: 29_000_000 };

let tableName: string;
let store: LeaseCounter;

beforeEach(async () => {
  tableName = await freshTable('budgets');
  store = leaseStore(client, tableName);
});

const items = async () => (await client.send(new ScanCommand({ TableName: tableName }))).Items ?? [];

const upToHalf = { half: 6, evenAll: false };
const evenAll = { half: 6, evenAll: true };
const lease = (all: number, own: number, added = true) => ({ added, leased: { all, own } });

test('a lease is added within half, and says what is leased; an hour after its minute it may go (D54)', async () => {
  expect(await store.lease(minute, 4, upToHalf)).toEqual(lease(4, 4));
  expect(await store.lease(minute, 3, upToHalf)).toEqual(lease(4, 4, false));
  expect(await store.lease(minute, 2, upToHalf)).toEqual(lease(6, 6));
  expect(await store.lease(minute, 1, upToHalf)).toEqual(lease(6, 6, false));
  expect(await store.lease(minute, 6, evenAll)).toEqual(lease(12, 12));
  expect(await store.lease({ ...minute, userId: 'u-2' }, 1, upToHalf)).toEqual(lease(13, 1));
  expect(await store.lease(minute, 4, evenAll)).toEqual(lease(13, 12, false));
  expect(await items()).toEqual([
    {
      ...{ pk: 'CLIENT#1001#29000000', leased: 13, expiresAtSeconds: 29_000_001 * 60 + 3_600 },
      // All processes spell the two users like this in the minute.
      ...{ cvCf: 12, J4kt: 1 },
    },
  ]);
});

test('clients and minutes have counters of their own, which can be looked at', async () => {
  const others = [
    { ...minute, clientId: 1002 },
    { ...minute, window: minute.window + 1 },
  ];
  for (const each of [minute, ...others]) {
    expect(await store.look(each)).toEqual({ all: 0, own: 0 });
    expect(await store.lease(each, 6, upToHalf)).toEqual(lease(6, 6));
  }
  expect(await store.look(minute)).toEqual({ all: 6, own: 6 });
  expect(await store.look({ ...minute, userId: 'u-2' })).toEqual({ all: 6, own: 0 });
});

test('a hundred users of a minute are one write unit', async () => {
  for (let index = 0; index < 100; index += 1) await store.lease({ ...minute, userId: `u-${index}` }, 1, upToHalf);
  const [item = {}] = await items();
  expect(item['leased']).toBe(100);
  expect(Object.keys(item)).toHaveLength(103);
  // DynamoDB counts names by their bytes, and a small number as 2.
  expect(Object.keys(item).reduce((bytes, name) => bytes + name.length + 3, 40)).toBeLessThan(1_024);
});

test('of processes that ask at the same moment no two get the same request', async () => {
  const processes = Array.from({ length: 30 }, (_, index) => ({
    userId: `u-${index % 2}`,
    budget: leasedBudget(store, 20),
  }));
  let allowed = 0;
  const [line] = await countedBy(async () => {
    const spender = ({ userId }: { readonly userId: string }) => ({ clientId: 1001, userId });
    const nowMs = minute.window * 60_000;
    const standings = await Promise.all(processes.map((each) => each.budget.spend(spender(each), nowMs)));
    allowed = standings.filter(({ verdict }) => verdict === 'allowed').length;
  });
  // Requests on a busy machine may time out before they are counted.
  const uncounted = Number(line?.['RequestsNotBudgeted'] ?? 0);
  expect(allowed - uncounted).toBeLessThanOrEqual(20);
  if (uncounted === 0) expect(allowed).toBe(20);
});

test('the table answers like the leases in memory that the rule is tried with', async () => {
  const step = fc.record({
    client: fc.constantFrom(1, 2),
    user: fc.constantFrom('u-1', 'u-2'),
    size: fc.integer({ min: 1, max: 20 }),
    evenAll: fc.boolean(),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), fc.integer({ min: 20, max: 60 }), async (steps, half) => {
      const memory = leasesInMemory();
      run += 1;
      for (const { client: clientId, user: userId, size, evenAll } of steps) {
        const of = { clientId, userId, window: run };
        expect(await store.lease(of, size, { half, evenAll })).toEqual(await memory.lease(of, size, { half, evenAll }));
        expect(await store.look(of)).toEqual(await memory.look(of));
      }
    }),
    { numRuns: 30 },
  );
});

test('a table that does not answer is given up by the caller, before the client of DynamoDB would', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const waiting = documentClient({ region: 'us-east-1', credentials, endpoint });
  try {
    await expect(leaseStore(waiting, tableName).lease(minute, 1, upToHalf)).rejects.toMatchObject({
      name: 'AbortError',
    });
  } finally {
    waiting.destroy();
    silent.close();
  }
});

test('what the table refuses for another reason is an error', async () => {
  await expect(leaseStore(client, 'nowhere').lease(minute, 1, upToHalf)).rejects.toThrow();
});
