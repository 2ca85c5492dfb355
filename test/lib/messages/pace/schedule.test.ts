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
} from '../../../../lib/messages/pace/schedule.ts';
import type { LaneName } from '../../../../lib/messages/pace/segments.ts';
import { everyMs, startMs, turn, turnMs } from './a-number.ts';

const a: LaneName = { clientId: 1, lane: 'A' };
const b: LaneName = { clientId: 2, lane: 'B' };

/** Keeps a schedule and the positions that it gave out, as their holders see them. */
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

test('a schedule of days ago delays no message', () => {
  const number = new PacedNumber();
  number.reserve(a, 500, startMs);
  const laterMs = startMs + 3 * 86_400_000;
  expect(number.slots(number.reserve(b, 1, laterMs))).toEqual([laterMs]);
  expect(number.schedule.segments).toHaveLength(1);
});

test('a minute of newcomers, each of which parts the schedule again, brings no two slots nearer together', () => {
  const number = new PacedNumber();
  // A second is no whole number of slots, so each part begins between two milliseconds.
  const spacing = 1_000 / 71.3;
  const slots: number[] = [];
  for (let second = 0; second < 60; second += 1) {
    const nowMs = startMs + 1_000 * second;
    number.reserve({ clientId: 1, lane: `J${second}` }, 72, nowMs, spacing);
    number.reserve(b, 72, nowMs, spacing);
    // No writer of the next second can change these slots.
    slots.push(...number.slots().filter((slot) => slot >= nowMs + 1_000 && slot < nowMs + 2_000));
  }
  const sorted = slots.toSorted((one, other) => one - other);
  expect(sorted.length).toBeGreaterThan(4_200);
  expect(sorted.filter((slot, at) => slot - (sorted[at - 2_139] ?? 0) < 2_139 * spacing - 1)).toEqual([]);
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

// A turn has as many messages at half the pace, and fewer at a quarter.
test.each([2, 4])('a lane that is alone goes on at the pace of its newest wave: %i times as slow', (times) => {
  const number = new PacedNumber();
  const turns = [...number.reserve(a, 300, startMs), ...number.reserve(a, 100, startMs, times * everyMs)];
  // The new pace begins at the end of the turn that is running when the schedule may change.
  const slow = number.slots(turns).slice(3 * turn);
  expect(slow[0]).toBeGreaterThanOrEqual(changeableFromMs(startMs));
  expect(number.slots(turns)[3 * turn - 1]).toBeLessThan(startMs + 3 * turnMs);
  expect(Math.min(...gaps(slow))).toBeGreaterThan(times * everyMs - 1);
});

test('a lane whose slots end where the schedule may be changed waits no more: whole blocks follow', () => {
  const number = new PacedNumber();
  number.reserve(a, 5, startMs, 200);
  const turns = number.reserve(a, 10, startMs, 200);
  expect([turns[0]?.position, number.slots(turns)[0]]).toEqual([10, changeableFromMs(startMs)]);
});

test('a message that finds a slow number free does not wait for the beat of the one before', () => {
  const number = new PacedNumber();
  number.reserve({ clientId: 1, lane: '*' }, 1, startMs, 1_000);
  expect(number.slots(number.reserve({ clientId: 1, lane: '*' }, 1, startMs + 1_500, 1_000))).toEqual([
    startMs + 1_500,
  ]);
});

test('clients share by messages, not by dispatches: one dispatch beside nine has half', () => {
  const number = new PacedNumber();
  const one = number.reserve({ clientId: 1, lane: 'only' }, 1_000, startMs);
  for (let dispatch = 0; dispatch < 9; dispatch += 1)
    number.reserve({ clientId: 2, lane: `J${dispatch}` }, 1_000, startMs);
  // The time spans whole turns of both lanes.
  const fromMs = changeableFromMs(startMs) + turnMs;
  const during = (turns: readonly Turn[]) =>
    number.slots(turns).filter((slot) => slot >= fromMs && slot < fromMs + 20 * turnMs).length;
  expect(Math.abs(during(one) - 10 * turn)).toBeLessThanOrEqual(1);
  expect(Math.abs(during(number.turns) - 20 * turn)).toBeLessThanOrEqual(1);
  expect(shareOf(number.schedule, { clientId: 1, lane: 'only' }, startMs)).toBe(1 / 2);
  expect(shareOf(number.schedule, { clientId: 2, lane: 'J3' }, startMs)).toBe(1 / 18);
  expect(shareOf(number.schedule, { clientId: 2, lane: 'new' }, startMs)).toBe(1 / 20);
  expect(shareOf(number.schedule, { clientId: 2, lane: 'new' }, endMsOf(number.schedule))).toBe(1);
});

test('a lane has a part for each client that waits beside it, and all where none does', () => {
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
    expect(most).toBeLessThanOrEqual(8);
    // Skipped free slots are positions too: a lane that comes back gets none of them again.
    number.reserve({ clientId: 1, lane: '*' }, 100, endMsOf(number.schedule) + 60_000);
    expect(new Set(number.turns.map(({ position }) => position)).size).toBe(2_100);
  },
);

/** Groups consecutive equal members and counts them. */
function runsOf<T>(row: readonly T[]): { readonly who: T; readonly count: number }[] {
  const runs: { who: T; count: number }[] = [];
  for (const who of row) {
    const last = runs.at(-1);
    if (last?.who === who) last.count += 1;
    else runs.push({ who, count: 1 });
  }
  return runs;
}

test('while clients compete, every round has a turn of each, whenever waves and dispatches come; so inside a client', () => {
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
      // A quarter second is no whole number of turns, so the split falls inside one.
      const spacing = 1_000 / 70.5;
      for (const lane of lanes) number.reserve(lane, 300, startMs, spacing);
      // Past slots may be forgotten, so the test keeps the last known time of each.
      const known = new Map(number.turns.map((turn) => [turn, slotMsOf(number.schedule, turn) ?? 0]));
      for (const { atMs, count, ...lane } of waves.toSorted((one, other) => one.atMs - other.atMs)) {
        number.reserve(lane, count, startMs + atMs, spacing);
        for (const each of number.turns) known.set(each, slotMsOf(number.schedule, each) ?? known.get(each) ?? 0);
      }
      // The first lanes have enough messages for the whole time, whatever joins them.
      const row = [...known]
        .map(([each, slot]) => ({ ...each, slot }))
        .filter(({ slot }) => slot >= startMs + 3_000 && slot < startMs + 13_000)
        .toSorted((one, other) => one.slot - other.slot);
      expect(row.length).toBeGreaterThan(700);
      const turns = runsOf(row.map(({ clientId }) => clientId)).slice(1, -1);
      expect(turns.filter(({ count }) => count !== turn)).toEqual([]);
      const rounds = turns.map((_, at) => new Set(turns.slice(at, at + 3).map(({ who }) => who)).size);
      expect(rounds.slice(0, -2).filter((clients) => clients !== 3)).toEqual([]);
      for (const client of [1, 2, 3]) {
        const own = row.filter(({ clientId, lane }) => clientId === client && lane < 'J3').map(({ lane }) => lane);
        let ahead = 0;
        const leads = own.map((lane) => (ahead += lane === 'J1' ? 1 : -1));
        expect(Math.max(0, ...leads) - Math.min(0, ...leads)).toBeLessThanOrEqual(2 * turn);
      }
    }),
    { numRuns: 100 },
  );
});
