import { beforeAll, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { placesStore } from '../../../../lib/messages/sender/places-store.ts';
import { type FaultPlan, injectFaults } from '../../../support/faults.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const nowMs = 1_800_000_000_000;
let table: string;

beforeAll(async () => {
  table = await freshTable('messages');
});

/** Its patience is longer than any busy machine needs. */
function faulty(plan: FaultPlan = () => undefined, patienceMs = 60_000) {
  const client = localDocumentClient();
  const faults = injectFaults(client, plan);
  return { faults, places: placesStore(tableOf(client, table), patienceMs) };
}

const wanted = (count: number, atMs = nowMs) => ({ count, everyMs: 100, nowMs: atMs });

test('a batch takes its places with one write, and the next one behind them', async () => {
  const { places, faults } = faulty();
  expect(await places.take('row', 'free', wanted(3))).toEqual([nowMs, nowMs + 100, nowMs + 200]);
  expect(faults.attempts).toHaveLength(1);
  expect(await places.take('row', 'free', wanted(1))).toEqual([nowMs + 300]);
  expect(faults.attempts).toHaveLength(3);
  expect(await places.take('row', 'tenth', wanted(1))).toEqual([nowMs]);
});

test('no more places than come within a second', async () => {
  const { places } = faulty();
  expect(await places.take('full', 'free', wanted(30))).toHaveLength(10);
  expect(await places.take('full', 'free', wanted(1))).toEqual([]);
  expect(await places.take('full', 'free', wanted(30, nowMs + 500))).toHaveLength(5);
  expect(await places.take('full', 'free', wanted(30, nowMs + 1_000))).toHaveLength(5);
});

test('workers that take at once never have one place twice', async () => {
  const { places } = faulty();
  const all = await Promise.all(Array.from({ length: 4 }, () => places.take('raced', 'free', wanted(2))));
  const taken = all.flat();
  expect(new Set(taken).size).toBe(taken.length);
  expect(taken.length).toBeGreaterThan(2);
});

test('a lost reply costs places, and gives none twice', async () => {
  const { places } = faulty(({ number }) => (number === 1 ? { kind: 'lose_reply' } : undefined));
  const first = await places.take('lost', 'free', wanted(2));
  const second = await places.take('lost', 'free', wanted(2));
  expect(new Set([...first, ...second]).size).toBe(first.length + second.length);
  expect(second.length).toBe(2);
});

test('a throttled counter has no place', async () => {
  const { places } = faulty(() => ({ kind: 'throttle' }), 50);
  expect(await places.take('throttled', 'free', wanted(1))).toEqual([]);
  expect(await places.close('throttled', nowMs)).toBe(nowMs + 2_000);
});

test('a new sender begins behind the last place, and leaves none but the last tenth', async () => {
  const { places } = faulty();
  expect(await places.close('idle', nowMs)).toBe(nowMs);
  await places.take('closed', 'free', wanted(3));
  const behindMs = await places.close('closed', nowMs);
  expect(behindMs).toBeGreaterThan(nowMs + 200);
  expect(behindMs).toBeLessThan(nowMs + 300);
  // Another part of the number begins behind the same place.
  expect(await places.close('closed', nowMs)).toBe(behindMs);
  await places.take('full before', 'free', wanted(30));
  expect(await places.close('full before', nowMs)).toBeGreaterThan(nowMs + 900);
  expect(await places.take('closed', 'free', wanted(1))).toEqual([]);
  expect(await places.take('closed', 'tenth', wanted(1))).toEqual([nowMs]);
});
