import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { paceKey } from '../../../../lib/messages/dispatch/items.ts';
import { perSecondOf, slowedDown, unknownPace, withCap } from '../../../../lib/messages/pace/number-pace.ts';
import { paceStore } from '../../../../lib/messages/pace/pace-store.ts';
import { reserve } from '../../../../lib/messages/pace/reserve.ts';
import { slotMsOf } from '../../../../lib/messages/pace/schedule.ts';
import { type FaultPlan, injectFaults } from '../../../support/faults.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const nowMs = 1_800_000_000_000;
let table: string;
let writers = 0;

beforeAll(async () => {
  table = await freshTable('messages');
});

function faulty(plan: FaultPlan = () => undefined) {
  const client = localDocumentClient();
  const faults = injectFaults(client, plan);
  const newWriter = () => {
    writers += 1;
    return `W${writers}`;
  };
  return {
    faults,
    paces: paceStore(tableOf(client, table, { nowMs: () => nowMs }), { newWriter, pause: async () => {} }),
  };
}

function wave(phoneNumberId: string, clientId = 1, count = 10) {
  return { phoneNumberId, limitPerSecond: 80, clientId, lane: 'J', count };
}

const commandsOf = ({ faults }: ReturnType<typeof faulty>) => faults.attempts.map(({ command }) => command);

test('a number that has sent nothing has no pace; one that is stored is found as it was written', async () => {
  const { paces } = faulty();
  expect(await paces.find('new')).toEqual(unknownPace);
  const { pace } = await reserve(paces, wave('new'), nowMs);
  expect(pace.version).toBe(1);
  expect(await paces.find('new')).toEqual(pace);
  const slower = await paces.change('new', undefined, (seen) => ({
    pace: slowedDown(seen, 80, nowMs),
    result: 'slower',
  }));
  expect(slower).toMatchObject({ result: 'slower', pace: { version: 2, learned: { perSecond: 60, atMs: nowMs } } });
  expect(await paces.find('new')).toEqual(slower.pace);
});

test('a reader sees what was written a moment ago', async () => {
  const { pace } = await reserve(faulty().paces, wave('fresh'), nowMs);
  const client = localDocumentClient();
  lagReads(client);
  const paces = paceStore(tableOf(client, table, { nowMs: () => nowMs }), { newWriter: () => 'reader' });
  expect(await paces.find('fresh')).toEqual(pace);
});

test('of twenty who reserve at once each has slots of its own, at the pace of the number', async () => {
  const contenders = Array.from({ length: 20 }, (_, client) =>
    reserve(faulty().paces, wave('crowd', 1 + (client % 3)), nowMs + client),
  );
  const reserved = await Promise.all(contenders);
  const { schedule, version } = await faulty().paces.find('crowd');
  expect(version).toBe(20);
  const slots = reserved.flatMap(({ firstPosition }, client) =>
    Array.from({ length: 10 }, (_, at) => ({
      clientId: 1 + (client % 3),
      lane: 'J',
      position: firstPosition + at,
    })).map((turn) => slotMsOf(schedule, turn) ?? Number.NaN),
  );
  const sorted = slots.toSorted((one, other) => one - other);
  expect(sorted).toHaveLength(200);
  expect(sorted.filter((slot, at) => !(slot - (sorted[at - 1] ?? 0) >= 13))).toEqual([]);
  // The slots fill exactly the time that they need, so no slot was reserved twice.
  expect((sorted.at(-1) ?? 0) - (sorted[0] ?? 0)).toBeLessThan(200 * 14);
});

test("an operator's cap and a reservation that meet are both kept, and the cap outlives later writes (D43)", async () => {
  const { paces } = faulty();
  await reserve(paces, wave('capped', 1, 1_000), nowMs);
  const capped = { perSecond: 20, untilMs: nowMs + 60_000 };
  const { pace } = await paces.change('capped', undefined, (seen) => ({
    pace: withCap(seen, capped, { limitPerSecond: 80, nowMs }),
    result: undefined,
  }));
  expect(pace).toMatchObject({ version: 2, capped });
  await Promise.all([
    reserve(faulty().paces, wave('capped', 2), nowMs),
    faulty().paces.change('capped', pace, (seen) => ({ pace: slowedDown(seen, 80, nowMs), result: undefined })),
  ]);
  const found = await paces.find('capped');
  expect(found).toMatchObject({ version: 4, capped, learned: { perSecond: 15 } });
  expect([perSecondOf(80, found, nowMs), perSecondOf(80, found, nowMs + 400_000)]).toEqual([15, 80]);
});

test('one who was there first costs one more write, and no read', async () => {
  const world = faulty();
  const seen = await world.paces.find('late');
  await reserve(faulty().paces, wave('late'), nowMs);
  const { firstPosition, pace } = await reserve(world.paces, { ...wave('late'), seen }, nowMs);
  expect([firstPosition, pace.version]).toEqual([10, 2]);
  expect(commandsOf(world)).toEqual(['GetItemCommand', 'PutItemCommand', 'PutItemCommand']);
});

test('a reservation whose reply was lost is recognised as ours by the SDK retry: nothing is reserved twice (D43)', async () => {
  const world = faulty(({ number }) => (number === 2 ? { kind: 'lose_reply' } : undefined));
  const { firstPosition, pace } = await reserve(world.paces, wave('lost'), nowMs);
  expect([firstPosition, pace.version]).toEqual([0, 1]);
  expect(await faulty().paces.find('lost')).toEqual(pace);
  expect(commandsOf(world)).toHaveLength(3);
});

test('a throttled table is asked again; one that never takes the write is an error, and nothing is reserved', async () => {
  const throttled = faulty(({ number }) => (number < 3 ? { kind: 'throttle' } : undefined));
  expect((await reserve(throttled.paces, wave('throttled'), nowMs)).firstPosition).toBe(0);
  const broken = faulty(({ command }) => (command === 'PutItemCommand' ? { kind: 'fail_before' } : undefined));
  await expect(reserve(broken.paces, wave('broken'), nowMs)).rejects.toThrow();
  expect(await faulty().paces.find('broken')).toEqual(unknownPace);
});

test('a change that changes nothing is not written', async () => {
  const world = faulty();
  const { pace, result } = await world.paces.change('still', undefined, (seen) => ({ pace: seen, result: 7 }));
  expect([pace, result]).toEqual([unknownPace, 7]);
  expect(commandsOf(world)).toEqual(['GetItemCommand']);
});

/** Another writer goes first before these writes of a client, counted from 1. */
function beaten(name: string, isBeaten: (write: number) => boolean) {
  const client = localDocumentClient();
  const { attempts } = injectFaults(client, () => undefined);
  const other = async () => void (await reserve(faulty().paces, wave(name), nowMs));
  let writes = 0;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === 'PutItemCommand') writes += 1;
        if (commandName === 'PutItemCommand' && isBeaten(writes)) await other();
        return await next(args);
      },
    { step: 'initialize' },
  );
  return { client, other, commands: () => attempts.map(({ command }) => command) };
}

test('a writer that is always too late gives up after forty writes, and says so', async () => {
  const { client, commands } = beaten('beaten', () => true);
  const paces = paceStore(tableOf(client, table, { nowMs: () => nowMs }), {
    newWriter: () => 'late',
    pause: async () => {},
  });
  await expect(reserve(paces, wave('beaten'), nowMs)).rejects.toThrow('again and again');
  expect(commands().filter((command) => command === 'PutItemCommand')).toHaveLength(40);
  expect((await paces.find('beaten')).version).toBe(40);
});

test('a writer that was beaten twice waits and looks again; its change is asked again with the time that this took', async () => {
  let clockMs = nowMs;
  const { client, other, commands } = beaten('waited', (write) => write <= 2);
  const pause = async () => {
    clockMs += 40;
    await other();
  };
  const paces = paceStore(tableOf(client, table, { nowMs: () => clockMs }), { newWriter: () => 'slow', pause });
  const told: [number, number][] = [];
  await paces.change('waited', unknownPace, (pace, waitedMs) => {
    told.push([pace.version, waitedMs]);
    return { pace: { ...pace }, result: 0 };
  });
  expect(told).toEqual([
    [0, 0],
    [1, 0],
    [3, 40],
  ]);
  expect(commands()).toEqual(['PutItemCommand', 'PutItemCommand', 'GetItemCommand', 'PutItemCommand']);
});

test('a number is forgotten after thirty quiet days, and begins again where TTL has removed what was seen', async () => {
  const client = localDocumentClient();
  const { pace } = await reserve(faulty().paces, wave('quiet'), nowMs);
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: paceKey('quiet') }));
  expect(Item).toMatchObject({ pk: 'PACE#quiet', sk: 'PACE', expiresAtSeconds: nowMs / 1_000 + 30 * 86_400 });
  await client.send(new DeleteCommand({ TableName: table, Key: paceKey('quiet') }));
  expect((await reserve(faulty().paces, { ...wave('quiet'), seen: pace }, nowMs)).firstPosition).toBe(10);
});
