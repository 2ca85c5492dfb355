import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { urgentKey } from '../../../../lib/messages/dispatch/items.ts';
import { urgentStore } from '../../../../lib/messages/pace/urgent-store.ts';
import { type FaultPlan, injectFaults } from '../../../support/faults.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const nowMs = 1_800_000_000_000;
let table: string;

beforeAll(async () => {
  table = await freshTable('messages');
});

function faulty(plan: FaultPlan = () => undefined) {
  const client = localDocumentClient();
  const faults = injectFaults(client, plan);
  return { faults, urgentCapacity: urgentStore(tableOf(client, table)) };
}

/** Each request asks for this many codes. */
function codes(sizes: readonly number[], atMs = nowMs) {
  return { sizes, everyMs: 125, nowMs: atMs, latestMs: atMs + 1_000 };
}

test('slots come in a row from now on, one write each time the counter is where it was guessed', async () => {
  const { urgentCapacity, faults } = faulty();
  expect(await urgentCapacity.take('row', codes([3]))).toEqual([nowMs, nowMs + 125, nowMs + 250]);
  expect(faults.attempts).toHaveLength(1);
  expect(await urgentCapacity.take('row', codes([1], nowMs + 10))).toEqual([nowMs + 375]);
  expect(faults.attempts).toHaveLength(3);
  expect(await urgentCapacity.take('row', codes([1], nowMs + 500))).toEqual([nowMs + 500]);
  expect(await urgentCapacity.take('row', codes([1], nowMs + 60_000))).toEqual([nowMs + 60_000]);
});

test('what does not come within a second is not taken, and moves nothing', async () => {
  const { urgentCapacity, faults } = faulty();
  expect(await urgentCapacity.take('full', codes([10]))).toEqual([]);
  expect(faults.attempts).toEqual([]);
  expect(await urgentCapacity.take('full', codes([9]))).toHaveLength(9);
  expect(await urgentCapacity.take('full', codes([1]))).toEqual([]);
  expect(await urgentCapacity.take('full', codes([2], nowMs + 125))).toEqual([]);
  expect(await urgentCapacity.take('full', codes([1, 1], nowMs + 125))).toEqual([nowMs + 1_125]);
});

test('requests are taken whole, the first of them (D44)', async () => {
  const { urgentCapacity } = faulty();
  expect(await urgentCapacity.take('whole', codes([3, 4, 3, 1]))).toEqual(
    Array.from({ length: 7 }, (_, at) => nowMs + 125 * at),
  );
  expect(await urgentCapacity.take('whole', codes([3]))).toEqual([]);
  expect(await urgentCapacity.take('whole', codes([2]))).toEqual([nowMs + 875, nowMs + 1_000]);
});

test('twenty requests at once share no slot, and all slots that fit are given out', async () => {
  const taken = await Promise.all(Array.from({ length: 20 }, () => faulty().urgentCapacity.take('crowd', codes([1]))));
  const slots = taken.flat().toSorted((one, other) => one - other);
  expect(slots).toEqual(slots.map((_, at) => nowMs + 125 * at));
  expect(slots).toHaveLength(9);
});

test('several codes at once have slots within a second too, when others have moved the counter meanwhile', async () => {
  const taken = await Promise.all(Array.from({ length: 12 }, () => faulty().urgentCapacity.take('groups', codes([2]))));
  const slots = taken.flat().toSorted((one, other) => one - other);
  expect(slots).toEqual(slots.map((_, at) => nowMs + 125 * at));
  expect(slots).toHaveLength(8);
});

/** Counts the writes of the slots and runs `other` right before each. */
function raced(other: (write: number) => Promise<unknown>) {
  const client = localDocumentClient();
  const raced = { writes: 0, urgentCapacity: urgentStore(tableOf(client, table)) };
  client.middlewareStack.add(
    (next) => async (args) => {
      raced.writes += 1;
      await other(raced.writes);
      return await next(args);
    },
    { step: 'initialize', name: 'others' },
  );
  return raced;
}

test('a request that finds the counter moved five times takes nothing: a lane of the schedule is as soon', async () => {
  const others = faulty().urgentCapacity;
  const race = raced(async () => await others.take('contended', codes([1])));
  expect(await race.urgentCapacity.take('contended', codes(Array(9).fill(1)))).toEqual([]);
  expect(race.writes).toBe(5);
});

test('a counter that is gone meanwhile counts for nothing', async () => {
  await faulty().urgentCapacity.take('expired', codes([1]));
  const { urgentCapacity } = raced(async (write) => {
    if (write !== 2) return;
    await localDocumentClient().send(new DeleteCommand({ TableName: table, Key: urgentKey('expired') }));
  });
  expect(await urgentCapacity.take('expired', codes([1]))).toEqual([nowMs]);
});

test('a lost reply costs a slot and gives none out twice', async () => {
  const lost = faulty(({ number }) => (number === 1 ? { kind: 'lose_reply' } : undefined));
  expect(await lost.urgentCapacity.take('lost', codes([1]))).toEqual([nowMs + 125]);
  expect(await faulty().urgentCapacity.take('lost', codes([1]))).toEqual([nowMs + 250]);
});

test('TTL removes the counter a day after its last use', async () => {
  await faulty().urgentCapacity.take('gone', codes([1]));
  const { Item } = await localDocumentClient().send(new GetCommand({ TableName: table, Key: urgentKey('gone') }));
  expect(Item).toMatchObject({ pk: 'PACE#gone', sk: 'URGENT', expiresAtSeconds: nowMs / 1_000 + 86_400 });
});
