import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastSlotMsOf } from '../../../../lib/messages/fan-out/release-horizon.ts';
import {
  atPace,
  changeableFromMs,
  emptySchedule,
  endMsOf,
  reserved,
  slotMsOf,
  type Turn,
  trustedFromMs,
  trustedUntilMs,
  turnAt,
} from '../../../../lib/messages/pace/schedule.ts';
import type { Segment } from '../../../../lib/messages/pace/segments.ts';
import { thorough } from '../../../support/thorough.ts';
import { everyMs, startMs, turn } from './a-number.ts';
import { a, BlockNumber, b, blocksIn } from './block-number.ts';

test('the quarter seconds: a writer changes from 0.75 to 1 s ahead on, a reader trusts what no writer changes any more', () => {
  expect([0, 249, 250, 999].map((ms) => changeableFromMs(startMs + ms) - startMs)).toEqual([
    1_000, 1_000, 1_250, 1_750,
  ]);
  expect([0, 299, 300, 549, 550].map((ms) => trustedUntilMs(startMs + ms) - startMs)).toEqual([
    500, 750, 1_000, 1_000, 1_250,
  ]);
  for (let slotMs = startMs; slotMs < startMs + 500; slotMs += 1) {
    const fromMs = trustedFromMs(slotMs);
    expect(slotMs).toBeLessThan(trustedUntilMs(fromMs));
    expect(slotMs).toBeGreaterThanOrEqual(trustedUntilMs(fromMs - 1));
    expect(slotMs - fromMs).toBeGreaterThanOrEqual(450);
  }
});

test('clients take turns of thirty, whole from their first position on; a turn that has begun ends before others come', () => {
  const number = new BlockNumber();
  number.reserve({ ...a, count: 100 }, startMs);
  const late = number.reserve({ ...b, count: 60 }, startMs + 300);
  // The lane does not begin at 100, the first free position.
  expect(late[0]).toEqual({ ...b, position: 120 });
  // Ninety slots take 1.25 s, so the lane's last ten come next.
  const order = number.row().map(({ lane }) => lane);
  expect(order.join('')).toBe(`${'A'.repeat(100)}${'B'.repeat(60)}`);
  const [segment] = number.schedule.segments;
  expect(segment).toEqual({ fromMs: startMs, everyMs: 13.8889, turn: 30, lanes: [{ ...a, first: 0, count: 90 }] });
  const other = new BlockNumber();
  other.reserve({ ...a, count: 300 }, startMs);
  other.reserve({ ...b, count: 45 }, startMs + 300);
  const turns = other.row().map(({ lane }) => lane);
  expect(
    turns
      .join('')
      .match(/A+|B+/gu)
      ?.map(({ length }) => length),
  ).toEqual([120, 30, 30, 15, 150]);
});

test('positions follow at once where the block has room for all of them, in the schedule and in its last lane', () => {
  const number = new BlockNumber();
  number.reserve({ ...a, count: 7 }, startMs);
  expect(number.reserve({ ...b, count: 23 }, startMs)[0]?.position).toBe(7);
  expect(number.reserve({ ...a, count: 61 }, startMs + 20_000)[0]?.position).toBe(30);
  // The lane has no waiting messages, so it gets whole blocks in a new segment and no slot is lost.
  const again = number.reserve({ ...a, count: 30 }, startMs + 20_200);
  expect([again[0]?.position, number.schedule.segments.length]).toEqual([120, 2]);
  expect((number.slots(again)[0] ?? 0) - (startMs + 20_000)).toBeCloseTo(61 * everyMs, -1);
  // The lane still has waiting messages, so it continues there.
  number.reserve({ ...a, count: 100 }, startMs + 20_300);
  expect(number.reserve({ ...a, count: 30 }, startMs + 20_400)[0]?.position).toBe(250);
  expect(number.schedule.segments).toHaveLength(2);
});

test('a few messages that are one slice have one turn, wherever positions stand: other lanes of the client come behind (D45)', () => {
  for (let before = 1; before <= 40; before += 1) {
    const number = new BlockNumber();
    number.reserve({ ...a, lane: 'J', count: 300 }, startMs);
    number.reserve({ ...b, count: 300 }, startMs);
    number.reserve({ ...a, lane: 'K', count: before }, startMs + 300);
    const slots = number.slots(number.reserve({ ...a, lane: '*', count: 10, inFront: true }, startMs + 600));
    expect((slots[9] ?? 0) - (slots[0] ?? 0)).toBeCloseTo(9 * everyMs, 0);
  }
});

test('the rest of a block that was parted is a turn of its own, so that those after it are whole again', () => {
  const number = new BlockNumber();
  number.reserve({ ...a, lane: 'J', count: 300 }, startMs);
  number.reserve({ ...a, lane: 'S', count: 10, inFront: true }, startMs);
  number.reserve({ ...a, lane: 'K', count: 60 }, startMs + 1_000);
  number.reserve({ ...a, lane: 'L', count: 30 }, startMs + 2_000);
  const order = number.row().map(({ lane }) => lane);
  // The split cuts J at 140, in the middle of a block, and K at its 50th message.
  const runs = order.join('').match(/J+|K+|L+|S+/gu) ?? [];
  expect(runs.map((run) => `${run[0]}${run.length}`).join(' ')).toBe('J90 S10 J60 K30 J30 K20 J30 K10 L30 J90');
});

test('a lane that goes on alone forgets nothing of those who went in front', () => {
  const number = new BlockNumber();
  number.reserve({ ...a, count: 60 }, startMs);
  const fronts = [{ clientId: 2, untilMs: startMs + 5_000 }];
  number.schedule = { ...number.schedule, fronts };
  number.reserve({ ...a, count: 60 }, startMs);
  expect(number.schedule).toMatchObject({ segments: [{ lanes: [{ count: 120 }] }], fronts });
});

test('a turn is thirty messages, or twenty, or ten, for 1.2 s at most where ten are not longer', () => {
  const turns = [1, 40, 40.1, 60, 60.1, 120, 1_200].map((everyMs) => [everyMs, turnAt(everyMs)]);
  expect(turns).toEqual([
    [1, 30],
    [40, 30],
    [40.1, 20],
    [60, 20],
    [60.1, 10],
    [120, 10],
    [1_200, 10],
  ]);
});

test('a lane does not go on in a segment with other turns', () => {
  const number = new BlockNumber();
  number.reserve({ ...a, count: 600 }, startMs);
  const [segment] = number.schedule.segments;
  // The segment has the turns of an hour ago, when the pace was slower.
  number.schedule = { ...number.schedule, segments: [{ ...segment, turn: 20 } as Segment] };
  number.reserve({ ...a, count: 600 }, startMs + 500);
  expect(number.schedule.segments.map((each) => each.turn)).toEqual([20, 30]);
});

test('another pace holds from the end of a turn on, and so do its turns', () => {
  const number = new BlockNumber();
  const turns = number.reserve({ ...a, count: 300 }, startMs);
  number.schedule = atPace(number.schedule, 4 * everyMs, startMs);
  expect(number.schedule.segments.map((each) => each.turn)).toEqual([30, 20]);
  const slots = number.slots(turns);
  expect(slots.filter((slot, at) => at > 0 && slot - (slots[at - 1] ?? 0) < 40)).toHaveLength(90);
  expect(atPace(number.schedule, 4 * everyMs, startMs)).toBe(number.schedule);
});

test('the last slot of a lane is the slot of its last position, beside any other lanes', () => {
  const number = new BlockNumber();
  const turns = [
    ...number.reserve({ ...a, count: 145 }, startMs),
    ...number.reserve({ ...a, count: 20 }, startMs + 400),
  ];
  number.reserve({ ...b, count: 77 }, startMs + 450);
  expect(lastSlotMsOf(number.schedule, a)).toBe(Math.max(...number.slots(turns)));
});

const minuteMs = 60_000;

const fairOf = (clients: number) => minuteMs / everyMs / clients;

const ofClient = (number: BlockNumber, client: number) =>
  number.row().filter(({ clientId, slotMs }) => clientId === client && slotMs < startMs + minuteMs).length;

test.each([
  [1, 'one lane', () => '*'],
  [5, 'one lane', () => '*'],
  [20, 'one lane', () => '*'],
  [5, 'a lane each', (at: number) => `L${at}`],
] as const)(
  'a client that reserves ten in front every quarter of a second beside %i clients with long dispatches, in %s, has no more than its part',
  (others, _name, laneAt) => {
    const number = new BlockNumber();
    const count = Math.ceil(fairOf(others)) + 300;
    for (let client = 0; client < others; client += 1) {
      number.reserve({ clientId: 100 + client, lane: 'J', count }, startMs);
    }
    for (let at = 0; at < 240; at += 1) {
      number.reserve({ clientId: 1, lane: laneAt(at), count: 10, inFront: true }, startMs + 250 * at);
    }
    const part = fairOf(others + 1);
    expect(ofClient(number, 1)).toBeLessThanOrEqual(part + turn);
    expect(ofClient(number, 1)).toBeGreaterThanOrEqual(part - 3 * turn);
  },
);

const operation = fc.record({
  passMs: fc.oneof(fc.nat(50), fc.nat(600), fc.constant(20_000)),
  /** Clocks are up to 100 ms apart, and a write arrives up to as late. */
  writerMs: fc.integer({ min: -50, max: 50 }),
  readerMs: fc.integer({ min: -50, max: 50 }),
  writeMs: fc.nat(200),
  count: fc.integer({ min: 1, max: 120 }),
  inFront: fc.boolean(),
  /** These paces have turns of thirty, twenty and ten. */
  slower: fc.option(fc.constantFrom(1, 2, 4, 9), { freq: 6 }),
  lane: fc.record({ clientId: fc.integer({ min: 1, max: 3 }), lane: fc.constantFrom('*', 'J1', 'J2') }),
});

/** Two slots are never closer than the spacing; 72 spacings make a second, less the lost fraction of a millisecond. */
function tooNear(slots: readonly number[]): number[] {
  const sorted = slots.toSorted((one, other) => one - other);
  return sorted.filter((slot, at) => slot - (sorted[at - 1] ?? 0) < 13 || slot - (sorted[at - 72] ?? 0) < 999);
}

test('clocks 100 ms apart, writes of 200 ms, any pace: nothing that was trusted moves, no slot is there twice, none is too near', () => {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 25 }), (operations) => {
      let schedule = emptySchedule;
      let spacing = everyMs;
      let trueMs = startMs;
      const turns: Turn[] = [];
      const trusted = new Map<Turn, number>();
      const read = (nowMs: number) => {
        for (const each of turns) {
          const slotMs = slotMsOf(schedule, each);
          const before = trusted.get(each);
          // A past slot may only be forgotten, never moved.
          if (before !== undefined && (slotMs ?? before) !== before) expect([each, slotMs]).toEqual([each, before]);
          if (before !== undefined && slotMs === undefined) expect(before).toBeLessThanOrEqual(nowMs);
          if (slotMs !== undefined && slotMs < trustedUntilMs(nowMs)) trusted.set(each, slotMs);
        }
      };
      for (const { passMs, writerMs, readerMs, writeMs, lane, count, inFront, slower } of operations) {
        trueMs += passMs;
        const nowMs = trueMs + writerMs;
        if (slower !== null) spacing = everyMs * slower;
        const asked = { ...lane, count, everyMs: spacing, nowMs, ...(inFront ? { inFront } : {}) };
        const change =
          slower === null
            ? reserved(schedule, asked)
            : { schedule: atPace(schedule, spacing, nowMs), firstPosition: undefined };
        // The reader comes just before the write.
        trueMs += writeMs;
        read(trueMs + readerMs);
        schedule = change.schedule;
        const { firstPosition } = change;
        if (firstPosition !== undefined) {
          const given = Array.from({ length: count }, (_, at) => ({ ...lane, position: firstPosition + at }));
          turns.push(...given);
          expect(Math.min(...given.map((each) => slotMsOf(schedule, each) ?? 0))).toBeGreaterThanOrEqual(nowMs);
        }
        expect(tooNear(turns.flatMap((each) => slotMsOf(schedule, each) ?? []))).toEqual([]);
      }
      read(trueMs);
      expect(tooNear([...trusted.values()])).toEqual([]);
      const names = turns.map(({ clientId, lane, position }) => `${clientId}#${lane}#${position}`);
      expect(new Set(names).size).toBe(names.length);
    }),
    { numRuns: thorough ? 300 : 60 },
  );
});

const wave = fc.record({
  passMs: fc.nat(700),
  clientId: fc.integer({ min: 1, max: 4 }),
  lane: fc.constantFrom('J1', 'J2', 'J3'),
  turns: fc.integer({ min: 1, max: 5 }),
  inFront: fc.boolean(),
});

test('blocks of lanes that want whole ones stay in consecutive slots, whatever comes when, in front or not', () => {
  fc.assert(
    fc.property(fc.array(wave, { minLength: 5, maxLength: 25 }), (waves) => {
      const number = new BlockNumber();
      let nowMs = startMs;
      for (const { passMs, turns, inFront, ...lane } of waves) {
        nowMs += passMs;
        number.reserve({ ...lane, count: turns * turn, ...(inFront ? { inFront } : {}) }, nowMs);
      }
      expect(blocksIn(number).broken).toBe(0);
      expect(endMsOf(number.schedule)).toBeGreaterThan(startMs);
    }),
    { numRuns: thorough ? 200 : 40 },
  );
});
