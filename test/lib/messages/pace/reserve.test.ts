import { expect, test } from 'vitest';
import { unknownPace, urgentEveryMs } from '../../../../lib/messages/pace/number-pace.ts';
import { laneOf, reserve, reserveAll } from '../../../../lib/messages/pace/reserve.ts';
import { changeableFromMs, slotMsOf } from '../../../../lib/messages/pace/schedule.ts';
import { fitsUrgentCapacity, reserveUrgent } from '../../../../lib/messages/pace/urgent.ts';
import { memoryPaces, memoryUrgentCapacity } from '../../../support/memory-numbers.ts';

const nowMs = 1_800_000_000_000;
const number = { phoneNumberId: '100', limitPerSecond: 80 };
const code = { ...number, clientId: 1, sizes: [1] };
const campaign = { ...number, clientId: 1, lane: 'J', count: 10_000 };

test('dispatches have a lane of their own, requests with few recipients one together', () => {
  expect(laneOf('01K3J9QQ2Z5V8W7X6Y4R3T2S1A', 10)).toBe('*');
  expect(laneOf('01K3J9QQ2Z5V8W7X6Y4R3T2S1A', 11)).toBe('4R3T2S1A');
});

test('several lanes of a number are reserved in one write', async () => {
  const paces = memoryPaces();
  const wanted = [
    { clientId: 1, lane: '*', count: 2 },
    { clientId: 2, lane: '*', count: 1 },
    { clientId: 1, lane: '*', count: 1 },
  ];
  const { firstPositions, pace } = await reserveAll(paces, { ...number, wanted }, nowMs);
  expect(pace.version).toBe(1);
  const slots = wanted.flatMap(({ count, ...lane }, at) =>
    Array.from({ length: count }, (_, more) =>
      slotMsOf(pace.schedule, { ...lane, position: (firstPositions[at] ?? 0) + more }),
    ),
  );
  expect(new Set(slots).size).toBe(4);
  expect(Math.max(...slots.map((slot) => slot ?? Number.NaN))).toBeLessThan(nowMs + 4 * 14);
});

test('a writer that others were ahead of reserves from the time on that it has by then', async () => {
  const paces = memoryPaces();
  const waiting: typeof paces.change = (phoneNumberId, seen, change) =>
    paces.change(phoneNumberId, seen, (pace) => change(pace, 700));
  const { firstPosition: position, pace } = await reserve(
    { ...paces, change: waiting },
    { ...number, clientId: 1, lane: 'J', count: 1 },
    nowMs,
  );
  expect(slotMsOf(pace.schedule, { clientId: 1, lane: 'J', position })).toBe(nowMs + 700);
  const ports = { paces: { ...memoryPaces(), change: waiting }, urgentCapacity: memoryUrgentCapacity() };
  expect((await reserveUrgent(ports, { ...code, phoneNumberId: '200' }, nowMs)).slots).toMatchObject([
    { slotMs: nowMs + 700 },
  ]);
});

test('what was read before is not read again, and what is returned is as stored', async () => {
  const paces = memoryPaces();
  const first = await reserve(paces, { ...number, clientId: 1, lane: 'J', count: 72 }, nowMs);
  const second = await reserve(paces, { ...number, clientId: 1, lane: 'J', count: 72, seen: first.pace }, nowMs);
  expect([first.firstPosition, second.firstPosition]).toEqual([0, 72]);
  expect(second.pace).toEqual(await paces.find('100'));
});

test('a code takes the schedule while nothing waits there (D44)', async () => {
  const ports = { paces: memoryPaces(), urgentCapacity: memoryUrgentCapacity() };
  const { slots, pace } = await reserveUrgent(ports, code, nowMs);
  expect(slots).toEqual([{ slotMs: nowMs, turn: { clientId: 1, lane: '!', position: 0 } }]);
  expect(pace.version).toBe(1);
  const lanes = [{ clientId: 2, lane: 'J', first: 0, count: 1 }];
  const over = { segments: [{ fromMs: nowMs - 1_000, everyMs: 1_000, turn: 30, lanes }], nextPosition: 1 };
  ports.paces.stored.set('100', { ...unknownPace, schedule: over });
  expect((await reserveUrgent(ports, code, nowMs)).slots).toMatchObject([{ slotMs: nowMs, turn: { clientId: 1 } }]);
});

test('a code behind a hundred thousand promotions takes the last tenth, and writes nothing to the schedule', async () => {
  const ports = { paces: memoryPaces(), urgentCapacity: memoryUrgentCapacity() };
  const { pace } = await reserve(ports.paces, { ...number, clientId: 1, lane: 'J', count: 100_000 }, nowMs);
  const first = await reserveUrgent(ports, { ...code, seen: pace }, nowMs);
  const second = await reserveUrgent(ports, code, nowMs + 10);
  expect([first.slots, second.slots]).toEqual([[{ slotMs: nowMs }], [{ slotMs: nowMs + 125 }]]);
  expect(await ports.paces.find('100')).toEqual(pace);
});

test('codes of a request go into the tenth together, or into a lane in front of those who wait (D44, D45)', async () => {
  const ports = { paces: memoryPaces(), urgentCapacity: memoryUrgentCapacity() };
  await reserve(ports.paces, { ...campaign, clientId: 2 }, nowMs);
  const { slots } = await reserveUrgent(ports, { ...code, sizes: [1, 2, 7, 10] }, nowMs);
  expect(slots.map(({ turn }) => turn !== undefined)).toEqual([0, 0, 0, ...Array(17).fill(1)].map(Boolean));
  expect(slots.slice(0, 3)).toEqual([0, 125, 250].map((ms) => ({ slotMs: nowMs + ms })));
  const lane = slots.slice(3).map(({ slotMs }) => slotMs);
  // The messages follow the running turn in consecutive slots, and do not wait for the others' next turn.
  expect(lane).toEqual(lane.map((_, at) => Math.floor(nowMs + (90 + at) * (1_000 / 72))));
  expect(lane[0]).toBeGreaterThanOrEqual(changeableFromMs(nowMs));
});

test.each([
  [5, 1],
  [20, 3],
  [80, 9],
])('of a number of %i a second the tenth takes requests of up to %i codes', async (limitPerSecond, most) => {
  for (const size of [most, most + 1]) {
    const ports = { paces: memoryPaces(), urgentCapacity: memoryUrgentCapacity() };
    await reserve(ports.paces, { ...campaign, limitPerSecond, clientId: 2 }, nowMs);
    const { slots } = await reserveUrgent(ports, { ...code, limitPerSecond, sizes: [size] }, nowMs);
    expect(slots.filter(({ turn }) => turn === undefined)).toHaveLength(size === most ? most : 0);
    expect(slots).toHaveLength(size);
    expect(fitsUrgentCapacity(size, urgentEveryMs(limitPerSecond, unknownPace, nowMs))).toBe(size === most);
  }
});

test('no time has more than the limit of codes and promotions together', async () => {
  const ports = { paces: memoryPaces(), urgentCapacity: memoryUrgentCapacity() };
  const { pace, firstPosition } = await reserve(ports.paces, { ...number, clientId: 1, lane: 'J', count: 500 }, nowMs);
  expect(firstPosition).toBe(0);
  const codes: number[] = [];
  for (let sent = 0; sent < 50; sent += 1) {
    const { slots } = await reserveUrgent(ports, code, nowMs + 90 * sent);
    codes.push(...slots.filter(({ turn }) => turn === undefined).map(({ slotMs }) => slotMs));
  }
  expect(codes.length).toBeGreaterThan(40);
  const bulk = Array.from(
    { length: 500 },
    (_, position) => slotMsOf(pace.schedule, { clientId: 1, lane: 'J', position }) ?? 0,
  );
  const all = [...codes, ...bulk].toSorted((one, other) => one - other);
  // A slot at either end may fall into the window, so 82 slots take at least a second.
  expect(all.filter((slot, at) => slot - (all[at - 82] ?? 0) < 1_000)).toEqual([]);
});

test('a lane goes in front where it asks for it; several of one reservation stand in the order of their wishes', async () => {
  const ports = { paces: memoryPaces(), urgentCapacity: memoryUrgentCapacity() };
  const dispatch = { ...number, clientId: 1, lane: 'J', count: 10_000 };
  await reserve(ports.paces, dispatch, nowMs);
  const front = { ...number, clientId: 2, lane: '*', count: 1, inFront: true } as const;
  const { pace } = await reserve(ports.paces, front, nowMs);
  expect(pace.schedule.segments.at(-1)).toMatchObject({ lanes: [{ clientId: 2 }, { clientId: 1 }] });
  const wanted = [
    { clientId: 3, lane: '*', count: 30 },
    { clientId: 4, lane: '*', count: 30, inFront: true },
  ] as const;
  const both = await reserveAll(ports.paces, { ...number, wanted }, nowMs);
  expect(both.firstPositions).toEqual([10_020, 10_050]);
  expect(both.pace.schedule.segments.at(-1)?.lanes.map(({ clientId }) => clientId)).toEqual([4, 2, 1, 3]);
});
