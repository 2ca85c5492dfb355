import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { loginAttemptsStore } from '../../../../lib/access/sign-in/login-attempts-store.ts';
import { attemptConditions } from '../../../../lib/access/sign-in/login-throttle.ts';
import type { LoginAttempts } from '../../../../lib/access/sign-in/sign-in.ts';
import { attemptsInMemory } from '../../../support/access.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const client = localDocumentClient();
const midnight = Date.UTC(2026, 10, 20);
const hourMs = 3_600_000;
const source = { username: 'supervisor1001', network: '203.0.113.7' };
const anyTime = { free: 10, atOnce: 20, afterDelayOf: undefined };

let tableName: string;
let store: LoginAttempts;

beforeEach(async () => {
  tableName = await freshTable('credentials');
  store = loginAttemptsStore(client, tableName);
});

const items = async () => (await client.send(new ScanCommand({ TableName: tableName }))).Items ?? [];

test('a pair has its record for a day, a name its failures for the running and the last hour (R38)', async () => {
  const nowMs = midnight + 5 * hourMs;
  expect(await store.read(source, nowMs)).toEqual({ pair: undefined, nameFailures: 0 });
  expect(await store.start(source, anyTime, nowMs)).toBe(true);
  await store.settle(source, 1, nowMs);
  await store.settle({ ...source, network: 'another' }, 1, nowMs);
  await store.settle({ ...source, username: 'another' }, 1, nowMs);
  const pair = { started: 1, failures: 1, lastStartedMs: nowMs };
  expect(await store.read(source, nowMs + hourMs - 1)).toEqual({ pair, nameFailures: 2 });
  expect(await store.read(source, nowMs + 2 * hourMs - 1)).toEqual({ pair, nameFailures: 2 });
  expect(await store.read(source, nowMs + 2 * hourMs)).toEqual({ pair, nameFailures: 0 });
  expect(await store.read(source, midnight + 24 * hourMs)).toEqual({ pair: undefined, nameFailures: 0 });
});

test('a right login erases the pair, not what others did to the name', async () => {
  await store.start(source, anyTime, midnight);
  await store.settle(source, 1, midnight);
  await store.forget(source, midnight);
  expect(await store.read(source, midnight)).toEqual({ pair: undefined, nameFailures: 1 });
});

test('of fifty that start at once no more do than may, and failures take the room of the clean', async () => {
  const startAll = async (count: number) => {
    const started = await Promise.all(Array.from({ length: count }, () => store.start(source, anyTime, midnight)));
    return started.filter(Boolean).length;
  };
  expect(await startAll(50)).toBe(20);
  await store.forget(source, midnight);
  await store.start(source, anyTime, midnight);
  await store.settle(source, 1, midnight);
  expect(await startAll(50)).toBe(9);
  const delayIsOver = { ...anyTime, afterDelayOf: 10 };
  const late = await Promise.all(Array.from({ length: 10 }, () => store.start(source, delayIsOver, midnight)));
  expect(late.filter(Boolean)).toHaveLength(1);
});

test('no failure is lost when many are counted at once', async () => {
  await Promise.all(Array.from({ length: 30 }, () => store.settle(source, 1, midnight)));
  expect(await store.read(source, midnight)).toMatchObject({ nameFailures: 30, pair: { failures: 30 } });
});

test('records expire with their day and hour, and no address can be read in them', async () => {
  await store.start(source, anyTime, midnight + 1);
  await store.settle(source, 1, midnight + 1);
  const found = (await items()).toSorted((a, b) => String(a['pk']).length - String(b['pk']).length);
  expect(found).toEqual([
    {
      pk: `ATTEMPTS#supervisor1001#${midnight / hourMs}`,
      failures: 1,
      expiresAtSeconds: (midnight + 2 * hourMs) / 1000,
    },
    {
      pk: expect.stringMatching(/^ATTEMPTS#supervisor1001#[0-9a-f]{64}#\d{5}$/),
      started: 1,
      failures: 1,
      lastStartedMs: midnight + 1,
      expiresAtSeconds: (midnight + 24 * hourMs) / 1000,
    },
  ]);
  expect(JSON.stringify(found)).not.toContain('203.0.113');
});

test('impossible names make short keys of their own, whatever their characters', async () => {
  const names = ['', 'x'.repeat(129), 'x'.repeat(1_000_000), '\ud800', 'a#b', 'sha256:x', '\u0000', '🙂'];
  for (const username of names) {
    const impossible = { ...source, username };
    expect(await store.start(impossible, anyTime, midnight)).toBe(true);
    await store.settle(impossible, 1, midnight);
    expect(await store.read(impossible, midnight)).toMatchObject({ pair: { started: 1 }, nameFailures: 1 });
  }
  const keys = (await items()).map((item) => String(item['pk']));
  expect(new Set(keys).size).toBe(2 * names.length);
  expect(Math.max(...keys.map((key) => key.length))).toBeLessThan(200);
});

test('the table answers like the records in memory that the pace is explored with', async () => {
  const step = fc.record({
    kind: fc.constantFrom('start', 'start', 'start', 'fail', 'settle', 'forget'),
    network: fc.constantFrom('a', 'b'),
    afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 * hourMs })),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const memory = attemptsInMemory();
      run += 1;
      let nowMs = midnight;
      for (const { kind, network, afterMs } of steps) {
        nowMs += afterMs;
        const from = { username: `user${run}`, network };
        const [known, history] = [await memory.read(from, nowMs), await store.read(from, nowMs)];
        expect(history).toEqual(known);
        if (kind === 'start' || kind === 'fail') {
          const turn = attemptConditions(history, nowMs);
          expect(await store.start(from, turn, nowMs)).toBe(await memory.start(from, turn, nowMs));
        }
        for (const attempts of [memory, store]) {
          if (kind === 'fail') await attempts.settle(from, 1, nowMs);
          if (kind === 'settle') await attempts.settle(from, 0, nowMs);
          if (kind === 'forget') await attempts.forget(from, nowMs);
        }
      }
    }),
    { numRuns: 30 },
  );
});
