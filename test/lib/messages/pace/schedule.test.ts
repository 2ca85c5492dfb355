import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  atPace,
  changeableFromMs,
  emptySchedule,
  endMsOf,
  reserved,
  type Schedule,
  shareOf,
  slotMsOf,
  type Turn,
  trustedFromMs,
  trustedUntilMs,
} from '../../../../lib/messages/pace/schedule.ts';
import type { LaneName } from '../../../../lib/messages/pace/segments.ts';

const startMs = 1_800_000_000_000;
const everyMs = 1_000 / 72;
const a: LaneName = { clientId: 1, lane: 'A' };
const b: LaneName = { clientId: 2, lane: 'B' };

/** A schedule, and what was given out of it, as those see it who hold the positions. */
class PacedNumber {
  schedule: Schedule = emptySchedule;
  readonly turns: Turn[] = [];

  reserve(lane: LaneName, count: number, nowMs: number, spacing = everyMs): Turn[] {
    const change = reserved(this.schedule, { ...lane, count, everyMs: spacing, nowMs });
    this.schedule = change.schedule;
    const turns = Array.from({ length: count }, (_, at) => ({ ...lane, position: change.firstPosition + at }));
    this.turns.push(...turns);
    return turns;
  }

  slots(turns: readonly Turn[] = this.turns): number[] {
    return turns.map((turn) => slotMsOf(this.schedule, turn) ?? PacedNumber.none);
  }

  static none = -1;
}

function gaps(slots: readonly number[]): number[] {
  const sorted = slots.toSorted((one, other) => one - other);
  return sorted.slice(1).map((slot, at) => slot - (sorted[at] ?? 0));
}

test('an idle number sends at once, at its pace, and without drift', () => {
  const number = new PacedNumber();
  const slots = number.slots(number.reserve(a, 100_000, startMs));
  expect(slots[0]).toBe(startMs);
  expect(slots[72_000]).toBeGreaterThanOrEqual(startMs + 1_000_000);
  expect(slots[72_000]).toBeLessThan(startMs + 1_000_010);
  expect(Math.min(...gaps(slots))).toBe(13);
});

test('a schedule of days ago does not hold up anybody', () => {
  const number = new PacedNumber();
  number.reserve(a, 500, startMs);
  const laterMs = startMs + 3 * 86_400_000;
  expect(number.slots(number.reserve(b, 1, laterMs))).toEqual([laterMs]);
  expect(number.schedule.segments).toHaveLength(1);
});

test('a newcomer takes turns with what is not due yet, and leaves what is', () => {
  const number = new PacedNumber();
  const first = number.reserve(a, 500, startMs);
  const before = number.slots(first);
  const newcomer = number.slots(number.reserve(b, 10, startMs + 400));
  const from = changeableFromMs(startMs + 400);
  expect(from).toBe(startMs + 2_000);
  expect(number.slots(first).filter((slot) => slot < from)).toEqual(before.filter((slot) => slot < from));
  expect(newcomer[0]).toBeLessThanOrEqual(from + 2 * everyMs);
  // Every second slot while both wait, every slot again afterwards.
  const after = number.slots(first).filter((slot) => slot > (newcomer.at(-1) ?? 0));
  expect(Math.max(...gaps(newcomer))).toBeLessThanOrEqual(Math.ceil(2 * everyMs));
  expect(Math.max(...gaps(after))).toBeLessThanOrEqual(Math.ceil(everyMs));
});

test('a minute of newcomers, each of whom parts the schedule anew, brings nobody nearer to another', () => {
  const number = new PacedNumber();
  // No whole number of slots in a second: each part begins between two milliseconds.
  const spacing = 1_000 / 71.3;
  const slots: number[] = [];
  for (let second = 0; second < 60; second += 1) {
    const nowMs = startMs + 1_000 * second;
    number.reserve({ clientId: 1, lane: `J${second}` }, 72, nowMs, spacing);
    number.reserve(b, 72, nowMs, spacing);
    slots.push(...number.slots().filter((slot) => slot >= nowMs + 1_000 && slot < nowMs + 2_000));
  }
  const sorted = slots.toSorted((one, other) => one - other);
  expect(sorted.length).toBeGreaterThan(4_200);
  expect(sorted.filter((slot, at) => slot - (sorted[at - 2_139] ?? 0) < 2_139 * spacing - 1)).toEqual([]);
});

test('a new pace holds from where nobody has trusted yet', () => {
  const number = new PacedNumber();
  const turns = number.reserve(a, 500, startMs);
  number.schedule = atPace(number.schedule, 4 * everyMs, startMs);
  const slots = number.slots(turns);
  const slow = slots.filter((slot) => slot >= changeableFromMs(startMs));
  expect(Math.min(...gaps(slow))).toBeGreaterThan(4 * everyMs - 1);
  expect(slots.filter((slot) => slot < changeableFromMs(startMs))).toHaveLength(144);
  expect(atPace(number.schedule, 4 * everyMs, startMs)).toBe(number.schedule);
});

test('what a clock of tomorrow has put into the future comes back with the next writer', () => {
  const number = new PacedNumber();
  const lost = number.reserve(a, 100, startMs + 86_400_000);
  number.reserve(b, 1, startMs);
  expect(Math.max(...number.slots(lost))).toBeLessThan(startMs + 4_000);
});

test('so does a lane that a clock of tomorrow has left alone', () => {
  const number = new PacedNumber();
  const lost = number.reserve(a, 100, startMs + 86_400_000);
  number.reserve(a, 1, startMs);
  expect(Math.max(...number.slots(lost))).toBeLessThan(startMs + 4_000);
});

test('a lane that is alone goes on at the pace of its newest wave', () => {
  const number = new PacedNumber();
  const turns = [...number.reserve(a, 300, startMs), ...number.reserve(a, 100, startMs, 4 * everyMs)];
  const slow = number.slots(turns).filter((slot) => slot >= changeableFromMs(startMs));
  expect(slow).toHaveLength(256);
  expect(Math.min(...gaps(slow))).toBeGreaterThan(4 * everyMs - 1);
});

test('a message that finds a slow number free does not wait for the beat of the one before', () => {
  const number = new PacedNumber();
  number.reserve({ clientId: 1, lane: '*' }, 1, startMs, 1_000);
  expect(number.slots(number.reserve({ clientId: 1, lane: '*' }, 1, startMs + 1_500, 1_000))).toEqual([
    startMs + 1_500,
  ]);
});

test('a slot is trusted from the moment on from which it lies before what is trusted', () => {
  for (let slotMs = startMs; slotMs < startMs + 2_000; slotMs += 7) {
    const fromMs = trustedFromMs(slotMs);
    expect(slotMs).toBeLessThan(trustedUntilMs(fromMs));
    expect(slotMs).toBeGreaterThanOrEqual(trustedUntilMs(fromMs - 1));
    expect(slotMs - fromMs).toBeGreaterThanOrEqual(700);
  }
});

test('clients share by messages, not by jobs: one job beside nine has half', () => {
  const number = new PacedNumber();
  const one = number.reserve({ clientId: 1, lane: 'only' }, 1_000, startMs);
  for (let job = 0; job < 9; job += 1) number.reserve({ clientId: 2, lane: `J${job}` }, 1_000, startMs);
  const slots = number.slots(one).filter((slot) => slot >= changeableFromMs(startMs));
  expect(Math.max(...gaps(slots))).toBeLessThanOrEqual(Math.ceil(2 * everyMs));
  expect(shareOf(number.schedule, { clientId: 1, lane: 'only' }, startMs)).toBe(1 / 2);
  expect(shareOf(number.schedule, { clientId: 2, lane: 'J3' }, startMs)).toBe(1 / 18);
  expect(shareOf(number.schedule, { clientId: 2, lane: 'new' }, startMs)).toBe(1 / 20);
  expect(shareOf(number.schedule, { clientId: 2, lane: 'new' }, endMsOf(number.schedule))).toBe(1);
});

test('a lane has a part for each client that waits beside it, and all where nobody does', () => {
  expect(shareOf(emptySchedule, a, startMs)).toBe(1);
  const number = new PacedNumber();
  number.reserve(a, 500, startMs);
  expect([shareOf(number.schedule, a, startMs), shareOf(number.schedule, b, startMs)]).toEqual([1, 1 / 2]);
  number.reserve(b, 100, startMs);
  expect(shareOf(number.schedule, { clientId: 3, lane: '*' }, startMs)).toBe(1 / 3);
});

test('a lane that goes on alone makes its segment longer', () => {
  const number = new PacedNumber();
  for (let wave = 0; wave < 3; wave += 1) number.reserve(a, 500, startMs + 1_000 * wave);
  expect(number.schedule).toMatchObject({ segments: [{ fromMs: startMs }], nextPosition: 1_500 });
});

test('a pace changes nothing where nothing waits, or what waits has it already', () => {
  expect(atPace(emptySchedule, 4 * everyMs, startMs)).toBe(emptySchedule);
  const number = new PacedNumber();
  number.reserve(a, 500, startMs);
  expect(atPace(number.schedule, everyMs, startMs)).toBe(number.schedule);
  expect(atPace(number.schedule, 4 * everyMs, startMs + 60_000)).toBe(number.schedule);
});

test.each([1, 5, 50, 200, 2_000])(
  '%i single messages a second keep the schedule short, and wait for their turn only',
  (perSecond) => {
    const number = new PacedNumber();
    const spacing = 1_000 / 900;
    let most = 0;
    let longestMs = 0;
    for (let sent = 0; sent < 2_000; sent += 1) {
      const nowMs = startMs + Math.floor((sent * 1_000) / perSecond);
      const behindMs = Math.max(0, endMsOf(number.schedule) - nowMs);
      const [slot = 0] = number.slots(number.reserve({ clientId: 1, lane: '*' }, 1, nowMs, spacing));
      most = Math.max(most, number.schedule.segments.length);
      expect(slot).toBeGreaterThanOrEqual(nowMs);
      longestMs = Math.max(longestMs, slot - nowMs - behindMs);
    }
    expect(longestMs).toBeLessThanOrEqual(2);
    expect(most).toBeLessThanOrEqual(9);
    // Free slots that were passed over are positions too: none is given out again when the lane comes back.
    number.reserve({ clientId: 1, lane: '*' }, 100, endMsOf(number.schedule) + 60_000);
    expect(new Set(number.turns.map(({ position }) => position)).size).toBe(2_100);
  },
);

const operation = fc.record({
  passMs: fc.oneof(fc.nat(50), fc.nat(1_500), fc.constant(20_000)),
  /** Half of what clocks may be apart, either way; of the writer and of a reader who has read just before. */
  writerMs: fc.integer({ min: -150, max: 150 }),
  readerMs: fc.integer({ min: -150, max: 150 }),
  what: fc.oneof(
    { arbitrary: fc.record({ kind: fc.constant('reserve'), count: fc.integer({ min: 1, max: 120 }) }), weight: 6 },
    fc.record({ kind: fc.constant('pace'), count: fc.integer({ min: 1, max: 4 }) }),
  ),
  lane: fc.record({ clientId: fc.integer({ min: 1, max: 3 }), lane: fc.constantFrom('*', 'J1', 'J2') }),
});

/** Those who hold messages and act on slots: what one of them has trusted must stay. */
class Holders {
  readonly trusted = new Map<string, number>();
  readonly broken: string[] = [];

  read(number: PacedNumber, readerMs: number): void {
    const until = trustedUntilMs(readerMs);
    for (const turn of number.turns) {
      const slot = slotMsOf(number.schedule, turn);
      const name = `${turn.clientId}#${turn.lane}#${turn.position}`;
      const before = this.trusted.get(name);
      // Nothing may happen to it but being forgotten, when it is over.
      if (before !== undefined && (slot === undefined ? before > readerMs : slot !== before)) this.broken.push(name);
      if (slot !== undefined && slot < until) this.trusted.set(name, slot);
    }
  }
}

/** Two slots are never closer than the spacing; 72 spacings are a second, less the part of a millisecond that is cut off. */
function tooNear(slots: readonly number[]): number[] {
  const sorted = slots.toSorted((one, other) => one - other);
  return sorted.filter((slot, at) => slot - (sorted[at - 1] ?? 0) < 13 || slot - (sorted[at - 72] ?? 0) < 999);
}

test('whatever is reserved and slowed down by clocks that agree within the margin: nothing that was trusted moves, no slot is there twice, none is too near', () => {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 30 }), (operations) => {
      const number = new PacedNumber();
      const holders = new Holders();
      let spacing = everyMs;
      let trueMs = startMs;
      for (const { passMs, writerMs, readerMs, what, lane } of operations) {
        trueMs += passMs;
        holders.read(number, trueMs + readerMs);
        const nowMs = trueMs + writerMs;
        if (what.kind === 'reserve') {
          const turns = number.reserve(lane, what.count, nowMs, spacing);
          expect(Math.min(...number.slots(turns))).toBeGreaterThanOrEqual(nowMs);
        } else {
          spacing = everyMs * what.count;
          number.schedule = atPace(number.schedule, spacing, nowMs);
        }
        expect(tooNear(number.slots().filter((slot) => slot !== PacedNumber.none))).toEqual([]);
      }
      holders.read(number, trueMs);
      expect(holders.broken).toEqual([]);
      expect(tooNear([...holders.trusted.values()])).toEqual([]);
      const names = number.turns.map(({ clientId, lane, position }) => `${clientId}#${lane}#${position}`);
      expect(new Set(names).size).toBe(names.length);
    }),
    { numRuns: 200 },
  );
});

test('while clients compete, every round has one message of each, whenever waves and jobs come; so inside a client', () => {
  const wave = fc.record({
    atMs: fc.nat(6_000),
    clientId: fc.integer({ min: 1, max: 3 }),
    lane: fc.constantFrom('J1', 'J2', 'J3', 'J4'),
    count: fc.integer({ min: 1, max: 100 }),
  });
  fc.assert(
    fc.property(fc.array(wave, { maxLength: 12 }), (waves) => {
      const number = new PacedNumber();
      const lanes = [1, 2, 3].flatMap((clientId) => ['J1', 'J2'].map((lane) => ({ clientId, lane })));
      // Seconds that are no whole number of rounds: the schedule is parted in the middle of one.
      const spacing = 1_000 / 70.5;
      for (const lane of lanes) number.reserve(lane, 300, startMs, spacing);
      // As it was last known: what is over may be forgotten.
      const known = new Map(number.turns.map((turn) => [turn, slotMsOf(number.schedule, turn) ?? 0]));
      for (const { atMs, count, ...lane } of waves.toSorted((one, other) => one.atMs - other.atMs)) {
        number.reserve(lane, count, startMs + atMs, spacing);
        for (const turn of number.turns) known.set(turn, slotMsOf(number.schedule, turn) ?? known.get(turn) ?? 0);
      }
      // Lanes of the beginning have enough for this time, whatever joins them.
      const row = [...known]
        .map(([turn, slot]) => ({ ...turn, slot }))
        .filter(({ slot }) => slot >= startMs + 2_000 && slot < startMs + 12_000)
        .toSorted((one, other) => one.slot - other.slot);
      expect(row.length).toBeGreaterThan(700);
      const rounds = row.map((_, at) => new Set(row.slice(at, at + 3).map(({ clientId }) => clientId)).size);
      expect(rounds.slice(0, -2).filter((clients) => clients !== 3)).toEqual([]);
      for (const client of [1, 2, 3]) {
        const own = row.filter(({ clientId, lane }) => clientId === client && lane < 'J3').map(({ lane }) => lane);
        expect(own.filter((lane, at) => lane === own[at + 1])).toEqual([]);
      }
    }),
    { numRuns: 100 },
  );
});
