import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { leaseStore } from '../../../../lib/access/budget/lease-store.ts';
import { type LeaseCounter, leasedBudget } from '../../../../lib/access/budget/leased-budget.ts';
import { documentClient } from '../../../../lib/aws/dynamodb.ts';
import { leasesInMemory } from '../../../support/memory-leases.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const client = localDocumentClient();
const minute = { clientId: 1001, window: 29_000_000 };

let tableName: string;
let store: LeaseCounter;

beforeEach(async () => {
  tableName = await freshTable('budgets');
  store = leaseStore(client, tableName);
});

const items = async () => (await client.send(new ScanCommand({ TableName: tableName }))).Items ?? [];

test('a lease is added where something is left, and says what was leased before; an hour later it may go (D54)', async () => {
  expect(await store.lease(minute, 4, 6)).toBe(0);
  expect(await store.lease(minute, 4, 6)).toBe(4);
  expect(await store.lease(minute, 4, 6)).toBe(6);
  expect(await items()).toEqual([{ pk: 'CLIENT#1001#29000000', leased: 8, expiresAtSeconds: 29_000_001 * 60 + 3_600 }]);
});

test('clients and minutes have counters of their own', async () => {
  expect(await store.lease(minute, 6, 6)).toBe(0);
  expect(await store.lease({ ...minute, clientId: 1002 }, 6, 6)).toBe(0);
  expect(await store.lease({ ...minute, window: minute.window + 1 }, 6, 6)).toBe(0);
  expect(await store.lease(minute, 6, 6)).toBe(6);
});

test('of processes that ask at the same moment no two get the same request', async () => {
  const processes = Array.from({ length: 30 }, () => leasedBudget(store, 20));
  const standings = await Promise.all(processes.map((each) => each.spend(1001, minute.window * 60_000)));
  expect(standings.filter(({ allowed }) => allowed)).toHaveLength(20);
});

test('the table answers like the leases in memory that the rule is tried with', async () => {
  const step = fc.record({ client: fc.constantFrom(1, 2), size: fc.integer({ min: 1, max: 20 }) });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), fc.integer({ min: 1, max: 60 }), async (steps, limit) => {
      const memory = leasesInMemory();
      run += 1;
      for (const each of steps) {
        const of = { clientId: each.client, window: run };
        expect(await store.lease(of, each.size, limit)).toBe(await memory.lease(of, each.size, limit));
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
    await expect(leaseStore(waiting, tableName).lease(minute, 1, 6)).rejects.toMatchObject({ name: 'AbortError' });
  } finally {
    waiting.destroy();
    silent.close();
  }
});

test('what the table refuses for another reason is an error', async () => {
  await expect(leaseStore(client, 'nowhere').lease(minute, 1, 6)).rejects.toThrow();
});
