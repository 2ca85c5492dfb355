import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastSlotMsOf } from '../../../../lib/messages/fan-out/horizon.ts';
import {
  atPace,
  changeableFromMs,
  emptySchedule,
  endMsOf,
  lateLane,
  reserved,
  type Schedule,
  slotMsOf,
  type Turn,
  trustedFromMs,
  trustedUntilMs,
  turnAt,
} from '../../../../lib/messages/pace/schedule.ts';
import type { LaneName, Segment } from '../../../../lib/messages/pace/segments.ts';
import { thorough } from '../../../support/thorough.ts';
import { everyMs, startMs, turn, turnMs } from './a-number.ts';

const a: LaneName = { clientId: 1, lane: 'A' };
const b: LaneName = { clientId: 2, lane: 'B' };

interface Asked extends LaneName {
  readonly count: number;
  readonly inFront?: true;
  readonly late?: true;
}

/** A schedule that remembers every slot it gave out, including those it has forgotten. */
class BlockNumber {
  schedule: Schedule = emptySchedule;
  readonly #known = new Map<Turn, number>();
  readonly #open = new Map<string, Turn[]>();

  reserve(asked: Asked, nowMs: number): Turn[] {
    this.#note(changeableFromMs(nowMs));
    const change = reserved(this.schedule, { ...asked, everyMs, nowMs });
    this.schedule = change.schedule;
    const { clientId, lane, count } = asked;
    const turns = Array.from({ length: count }, (_, at) => ({ clientId, lane, position: change.firstPosition + at }));
    const name = `${clientId}#${lane}`;
    this.#open.set(name, [...(this.#open.get(name) ?? []), ...turns]);
    return turns;
  }

  /** The slots of a lane ascend. */
  #note(beforeMs: number): void {
    for (const [name, turns] of this.#open) {
      const noted = turns.findIndex((turn) => {
        const slotMs = slotMsOf(this.schedule, turn) ?? Number.NaN;
        if (slotMs < beforeMs) this.#known.set(turn, slotMs);
        return !(slotMs < beforeMs);
      });
      this.#open.set(name, noted < 0 ? [] : turns.slice(noted));
    }
  }

  slots(turns: readonly Turn[]): number[] {
    return turns.map((turn) => slotMsOf(this.schedule, turn) ?? Number.NaN);
  }

  /** All given turns, in the order of their slots. */
  row(): (Turn & { readonly slotMs: number })[] {
    this.#note(Number.POSITIVE_INFINITY);
    return [...this.#known]
      .map(([turn, slotMs]) => ({ ...turn, slotMs }))
      .toSorted((one, other) => one.slotMs - other.slotMs);
  }
}

/** The whole blocks that were given out, and how many of them have gaps. */
function blocksIn(number: BlockNumber): { readonly whole: number; readonly broken: number } {
  const places = number.row().map(({ clientId, lane, position }, place) => ({
    block: `${clientId}#${lane}#${Math.floor(position / turn)}`,
    place,
  }));
  const whole = [...Map.groupBy(places, ({ block }) => block).values()].filter(({ length }) => length === turn);
  const broken = whole.filter((own) => (own.at(-1)?.place ?? 0) - (own[0]?.place ?? 0) !== turn - 1);
  return { whole: whole.length, broken: broken.length };
}

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

test('the last slot of a lane is the slot of its last position, whoever takes turns with it', () => {
  const number = new BlockNumber();
  const turns = [
    ...number.reserve({ ...a, count: 145 }, startMs),
    ...number.reserve({ ...a, count: 20 }, startMs + 400),
  ];
  number.reserve({ ...b, count: 77 }, startMs + 450);
  expect(lastSlotMsOf(number.schedule, a)).toBe(Math.max(...number.slots(turns)));
});

test('a newcomer beside twenty jobs has its first slots at once; behind them all when it does not ask for that', () => {
  const world = () => {
    const number = new BlockNumber();
    for (let job = 0; job < 20; job += 1) number.reserve({ clientId: 10 + job, lane: 'J', count: 600 }, startMs);
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

/** The lanes of the last segment, in order. */
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

test('where nobody else waits nobody is passed, and nothing is remembered', () => {
  const number = new BlockNumber();
  number.reserve({ ...a, count: 600, inFront: true }, startMs);
  number.reserve({ ...a, lane: 'A2', count: 30, inFront: true }, startMs);
  expect([lanesOf(number), number.schedule.fronts]).toEqual([['A2', 'A'], undefined]);
});

test('who went in front is forgotten when that time is over and it waits no more; a hundred are remembered', () => {
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
  'who reserves ten in front every quarter of a second beside %i clients with long jobs, in %s, has no more than its part',
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

test('however many go in front, however much, a client with a long job has its part', () => {
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

const operation = fc.record({
  passMs: fc.oneof(fc.nat(50), fc.nat(600), fc.constant(20_000)),
  /** Clocks are up to 100 ms apart, and a write arrives up to as late. */
  writerMs: fc.integer({ min: -50, max: 50 }),
  readerMs: fc.integer({ min: -50, max: 50 }),
  writeMs: fc.nat(200),
  count: fc.integer({ min: 1, max: 120 }),
  inFront: fc.boolean(),
  /** Turns of thirty, twenty and ten. */
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

test('blocks of lanes that want whole ones stay in consecutive slots, whoever comes when, in front or not', () => {
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
