import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lateLane } from '../../../../lib/messages/pace/schedule.ts';
import { thorough } from '../../../support/thorough.ts';
import { everyMs, startMs, turn, turnMs } from './a-number.ts';
import { a, BlockNumber, b } from './block-number.ts';

test('a newcomer beside twenty dispatches has its first slots at once; behind them all when it does not ask for that', () => {
  const world = () => {
    const number = new BlockNumber();
    for (let dispatch = 0; dispatch < 20; dispatch += 1)
      number.reserve({ clientId: 10 + dispatch, lane: 'J', count: 600 }, startMs);
    return number;
  };
  for (let afterMs = 3_000; afterMs < 3_500; afterMs += 10) {
    const number = world();
    const nowMs = startMs + afterMs;
    const slots = number.slots(number.reserve({ ...a, count: 10, inFront: true }, nowMs));
    expect(Math.max(...slots) - nowMs).toBeLessThanOrEqual(1_000 + turnMs + 10 * everyMs);
    expect((slots[9] ?? 0) - (slots[0] ?? 0)).toBeLessThanOrEqual(Math.ceil(9 * everyMs));
  }
  const last = world();
  expect(last.slots(last.reserve({ ...a, count: 10 }, startMs + 3_000))[0]).toBeGreaterThan(startMs + 19 * turnMs);
});

const lanesOf = ({ schedule }: BlockNumber) => schedule.segments.at(-1)?.lanes.map(({ lane }) => lane);

test('a client comes before the others once; until they could have had as much, its new lanes are first among its own only', () => {
  const number = new BlockNumber();
  for (const clientId of [2, 3, 4]) number.reserve({ clientId, lane: `J${clientId}`, count: 600 }, startMs);
  number.reserve({ clientId: 3, lane: 'K3', count: 600, inFront: true }, startMs);
  expect(lanesOf(number)).toEqual(['K3', 'J2', 'J3', 'J4']);
  const [front] = number.schedule.fronts ?? [];
  // A lane in front gets one whole turn of three clients, though it asks for more.
  expect(front).toEqual({
    clientId: 3,
    untilMs: Math.ceil((number.schedule.segments.at(-1)?.fromMs ?? 0) + 3 * turnMs),
  });
  number.reserve({ clientId: 2, lane: 'K2', count: 10, inFront: true }, startMs);
  expect(lanesOf(number)).toEqual(['K2', 'K3', 'J2', 'J3', 'J4']);
  number.reserve({ clientId: 3, lane: 'L3', count: 10, inFront: true }, startMs);
  expect(lanesOf(number)).toEqual(['K2', 'L3', 'K3', 'J2', 'J3', 'J4']);
  // The lane waits already, so it stays in place.
  number.reserve({ clientId: 4, lane: 'J4', count: 10, inFront: true }, startMs);
  expect(lanesOf(number)).toEqual(['K2', 'L3', 'K3', 'J2', 'J3', 'J4']);
  expect(number.schedule.fronts?.map(({ clientId }) => clientId)).toEqual([3, 2]);
  // The lane does not wait and may not go in front, so it goes behind all others.
  number.reserve({ ...a, count: 20, inFront: true }, startMs);
  expect(lanesOf(number)?.[0]).toBe('A');
  const untilMs = number.schedule.fronts?.at(-1)?.untilMs ?? 0;
  expect(untilMs).toBe(Math.ceil((number.schedule.segments.at(-1)?.fromMs ?? 0) + 20 * everyMs * 4));
  number.reserve({ ...a, lane: 'A2', count: 10, inFront: true }, startMs + 1_000);
  expect(lanesOf(number)?.at(-1)).toBe('A2');
  // After that time the lane comes first again.
  number.reserve({ ...a, lane: 'A3', count: 10, inFront: true }, untilMs);
  expect(lanesOf(number)?.[0]).toBe('A3');
});

test('a lane that does not ask for it is the last of its client; what its client has waiting goes in front with a lane', () => {
  const number = new BlockNumber();
  number.reserve({ ...a, count: 600 }, startMs);
  number.reserve({ ...b, count: 600 }, startMs);
  number.reserve({ ...a, lane: 'A2', count: 600 }, startMs);
  expect(lanesOf(number)).toEqual(['A', 'B', 'A2']);
  number.reserve({ ...b, lane: 'B2', count: 1, inFront: true }, startMs);
  const fromMs = number.schedule.segments.at(-1)?.fromMs ?? 0;
  expect(number.schedule.fronts).toEqual([{ clientId: 2, untilMs: Math.ceil(fromMs + 2 * turnMs) }]);
});

test('what missed its slots comes behind the late lanes of its client, else behind the clients that a late lane leads', () => {
  const number = new BlockNumber();
  const plain = (clientId: number, lane: string) => void number.reserve({ clientId, lane, count: 600 }, startMs);
  const late = (clientId: number, lane: string) => {
    number.reserve({ clientId, lane: lateLane(lane), count: 10, late: true }, startMs);
    return lanesOf(number)?.join(' ');
  };
  plain(1, 'J');
  plain(2, 'K');
  expect(late(2, 'K')).toBe('K~ J K');
  expect(late(1, 'J')).toBe('K~ J~ J K');
  expect(late(2, 'L')).toBe('K~ J~ J L~ K');
  // The clients of J~ and K~ come first, whatever else they have waiting.
  expect(late(3, 'M')).toBe('K~ J~ J L~ K M~');
  plain(4, 'P');
  plain(5, 'Q');
  for (const lane of ['N', 'O']) late(3, lane);
  expect(late(3, 'R')).toBe('K~ J~ J L~ K M~ N~ O~ R~ P Q');
  // No lane went in front, and all given positions have slots of their own.
  expect(number.schedule.fronts).toBeUndefined();
  expect(new Set(number.row().map(({ slotMs }) => slotMs)).size).toBe(2_470);
});

test('where no other client waits none is passed, and nothing is remembered', () => {
  const number = new BlockNumber();
  number.reserve({ ...a, count: 600, inFront: true }, startMs);
  number.reserve({ ...a, lane: 'A2', count: 30, inFront: true }, startMs);
  expect([lanesOf(number), number.schedule.fronts]).toEqual([['A2', 'A'], undefined]);
});

test('a client that went in front is forgotten when that time is over and it waits no more; a hundred are remembered', () => {
  const number = new BlockNumber();
  number.reserve({ ...b, count: 20_000 }, startMs);
  for (let client = 0; client < 101; client += 1) {
    number.reserve({ clientId: 100 + client, lane: '*', count: 1, inFront: true }, startMs);
  }
  expect(number.schedule.fronts?.map(({ clientId }) => clientId)).toEqual(
    Array.from({ length: 100 }, (_, at) => 101 + at),
  );
  number.reserve({ clientId: 500, lane: 'J', count: 600, inFront: true }, startMs + 20_000);
  number.reserve({ clientId: 600, lane: '*', count: 1 }, startMs + 22_000);
  expect(number.schedule.fronts?.map(({ clientId }) => clientId)).toEqual([500]);
  number.reserve({ clientId: 600, lane: '*', count: 1 }, startMs + 60_000);
  expect(number.schedule.fronts).toBeUndefined();
});

test('however many go in front, however much, a client with a long dispatch has its part', () => {
  const wish = fc.record({
    clientId: fc.integer({ min: 1, max: 4 }),
    lane: fc.constantFrom('*', 'J1', 'J2', 'J3'),
    count: fc.integer({ min: 1, max: 60 }),
    passMs: fc.nat(300),
  });
  fc.assert(
    fc.property(fc.array(wish, { minLength: 60, maxLength: 100 }), (wishes) => {
      const number = new BlockNumber();
      number.reserve({ clientId: 9, lane: 'J', count: 1_500 }, startMs);
      let nowMs = startMs;
      for (const { passMs, ...asked } of wishes) {
        nowMs += passMs;
        number.reserve({ ...asked, inFront: true }, nowMs);
      }
      // The others keep their place for as long as they wait.
      const row = number.row().filter(({ slotMs }) => slotMs >= startMs + 2_000 && slotMs < nowMs);
      const own = row.filter(({ clientId }) => clientId === 9).length;
      expect(own).toBeGreaterThanOrEqual(row.length / 5 - 2 * turn);
    }),
    { numRuns: thorough ? 100 : 20 },
  );
});
