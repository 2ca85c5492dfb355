import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  answeringSlowly,
  blockedUntilMs,
  bulkEveryMs,
  capOf,
  isAnsweringSlowly,
  type NumberPace,
  perSecondOf,
  recipientHashOf,
  slowedDown,
  unknownPace,
  urgentEveryMs,
  withBlocked,
  withCap,
} from '../../../../lib/messages/pace/number-pace.ts';
import { paceItemOf, paceOf } from '../../../../lib/messages/pace/pace-items.ts';
import { changeableFromMs, emptySchedule, reserved, type Schedule } from '../../../../lib/messages/pace/schedule.ts';

const nowMs = 1_800_000_000_000;
const wantedLane = { clientId: 1, lane: 'J', count: 1_000 };
const busy: Schedule = reserved(emptySchedule, {
  ...wantedLane,
  everyMs: 1_000 / 72,
  nowMs,
}).schedule;
const pace: NumberPace = { version: 3, schedule: busy, pairs: [] };

test('a number takes its limit, and the schedule nine tenths of it (D43)', () => {
  expect(perSecondOf(80, unknownPace, nowMs)).toBe(80);
  expect(bulkEveryMs(80, unknownPace, nowMs)).toBeCloseTo(1_000 / 72, 9);
  expect(bulkEveryMs(1_000, unknownPace, nowMs)).toBeCloseTo(1_000 / 900, 9);
});

test('a refusal makes it a quarter slower, schedule included, and it climbs back in a straight line within five minutes', () => {
  const slower = slowedDown(pace, 80, nowMs);
  expect(perSecondOf(80, slower, nowMs)).toBe(60);
  expect(slower.schedule.segments.at(-1)).toMatchObject({ fromMs: expect.any(Number), everyMs: 18.5186 });
  expect(slower.schedule.segments.at(-1)?.fromMs).toBeGreaterThanOrEqual(changeableFromMs(nowMs));
  expect(perSecondOf(80, slower, nowMs + 150_000)).toBe(70);
  expect(perSecondOf(80, slower, nowMs + 299_999)).toBeLessThan(80);
  expect(perSecondOf(80, slower, nowMs + 300_000)).toBe(80);
  // The pace rises in steps, because each pace is another spacing and another segment.
  expect(perSecondOf(80, slower, nowMs + 4_999)).toBe(60);
  expect(perSecondOf(80, slower, nowMs + 5_000)).toBeGreaterThan(60);
});

test('the refusals of one moment are one; those of later ones go on from the present pace, never below one a second', () => {
  const slower = slowedDown(pace, 80, nowMs);
  expect(slowedDown(slower, 80, nowMs + 2_999)).toBe(slower);
  // Another worker's clock is behind.
  expect(slowedDown(slower, 80, nowMs - 300)).toBe(slower);
  expect(perSecondOf(80, slowedDown(slower, 80, nowMs + 3_000), nowMs + 3_000)).toBe(45);
  // A clock that is a day ahead must not keep the number fast until then.
  const tomorrow = slowedDown(pace, 80, nowMs + 86_400_000);
  expect(slowedDown(tomorrow, 80, nowMs).learned).toEqual({ perSecond: 45, atMs: nowMs });
  let worst = pace;
  for (let time = 0; time < 100; time += 1) worst = slowedDown(worst, 80, nowMs + 3_000 * time);
  expect(perSecondOf(80, worst, nowMs + 297_000)).toBe(1);
});

test('a number that lets a call wait counts as slow for ten seconds; only the later half is worth another write (D44)', () => {
  const slow = answeringSlowly(pace, nowMs);
  expect([nowMs, nowMs + 9_999, nowMs + 10_000].map((atMs) => isAnsweringSlowly(slow, atMs))).toEqual([
    true,
    true,
    false,
  ]);
  expect([pace, unknownPace].some((each) => isAnsweringSlowly(each, nowMs))).toBe(false);
  expect(answeringSlowly(slow, nowMs + 4_999)).toBe(slow);
  expect(answeringSlowly(slow, nowMs + 5_000).slowUntilMs).toBe(nowMs + 15_000);
});

test('what was learned never exceeds the limit, which may have fallen since', () => {
  const slower = slowedDown(pace, 80, nowMs);
  expect(perSecondOf(20, slower, nowMs)).toBe(20);
  expect(perSecondOf(1_000, slower, nowMs)).toBe(60);
});

test('a person that the number must not write to yet is remembered until that time, without the phone number', () => {
  const ana = recipientHashOf('5491100000001');
  expect(ana).toMatch(/^[a-z2-7]{12}$/);
  const blocked = withBlocked(pace, ana, nowMs + 6_000, nowMs);
  expect(blockedUntilMs(blocked, ana, nowMs)).toBe(nowMs + 6_000);
  expect(blockedUntilMs(blocked, ana, nowMs + 6_000)).toBeUndefined();
  expect(blockedUntilMs(blocked, recipientHashOf('+541100000001'), nowMs)).toBe(nowMs + 6_000);
  expect(blockedUntilMs(blocked, recipientHashOf('5491100000002'), nowMs)).toBeUndefined();
  expect(withBlocked(blocked, ana, nowMs + 5_000, nowMs)).toBe(blocked);
  expect(withBlocked(blocked, ana, nowMs + 9_000, nowMs).pairs).toEqual([
    { recipientHash: ana, untilMs: nowMs + 9_000 },
  ]);
});

test('of more than a hundred persons the oldest are forgotten, and those whose time is over before them', () => {
  let full = withBlocked(pace, 'over', nowMs + 1, nowMs);
  for (let person = 0; person < 100; person += 1) full = withBlocked(full, `P${person}`, nowMs + 6_000, nowMs + 1);
  expect(full.pairs).toHaveLength(100);
  expect(blockedUntilMs(full, 'P0', nowMs + 1)).toBeDefined();
  expect(withBlocked(full, 'later', nowMs + 20_000, nowMs + 6_000).pairs).toHaveLength(1);
  full = withBlocked(full, 'one more', nowMs + 6_000, nowMs + 1);
  expect(full.pairs).toHaveLength(100);
  expect(blockedUntilMs(full, 'P0', nowMs + 1)).toBeUndefined();
});

const wave = fc.record({
  clientId: fc.nat(50),
  lane: fc.constantFrom('*', '!', 'K3J9QQ2Z', 'a#b'),
  count: fc.integer({ min: 1, max: 500 }),
  everyMs: fc.double({ min: 1, max: 1_200, noNaN: true }),
  afterMs: fc.nat(3_000),
  inFront: fc.option(fc.constant(true as const), { nil: undefined }),
});

test('an item is read as it was written', () => {
  fc.assert(
    fc.property(fc.array(wave, { maxLength: 20 }), fc.array(fc.nat(9), { maxLength: 5 }), (waves, persons) => {
      let atMs = nowMs;
      let stored: NumberPace = { ...pace, schedule: emptySchedule };
      for (const { afterMs, inFront, ...lane } of waves) {
        atMs += afterMs;
        const wanted = { ...lane, inFront, nowMs: atMs };
        stored = { ...stored, schedule: reserved(stored.schedule, wanted).schedule };
      }
      for (const [at, person] of persons.entries())
        stored = withBlocked(stored, `P${person}`, atMs + 10 * at + 1, atMs);
      if (persons.length > 2) stored = slowedDown(stored, 80, atMs);
      if (persons.length > 3) stored = answeringSlowly(stored, atMs);
      expect(paceOf({ ...paceItemOf(stored), version: 7, pk: 'PACE#1', sk: 'PACE' })).toEqual({
        ...stored,
        version: 7,
      });
    }),
  );
});

test('the oldest person is known again, in whatever order the item is read', () => {
  const item = { ...paceItemOf(pace), version: 1, pairs: { b: nowMs + 2, c: nowMs + 3, a: nowMs + 1 } };
  expect(paceOf(item).pairs.map(({ recipientHash }) => recipientHash)).toEqual(['a', 'b', 'c']);
});

test('clients that went in front are in the item only where there are any', () => {
  const scheduleIn = (schedule: Schedule) =>
    JSON.parse((paceItemOf({ ...pace, schedule }) as { schedule: string }).schedule);
  expect(Object.keys(scheduleIn(busy))).toEqual(['next', 'lanes', 'segments', 'turns']);
  const wanted = { clientId: 2, lane: '*', count: 1, everyMs: 1_000 / 72, nowMs, inFront: true } as const;
  const { schedule } = reserved(busy, wanted);
  expect(scheduleIn(schedule)).toMatchObject({ turns: [30, 30], fronts: [[2, expect.any(Number)]] });
});

test('a number that is slowed down is so from the end of a turn on', () => {
  const slower = slowedDown(pace, 80, nowMs);
  // Ninety slots are three turns and reach past the changeable second.
  expect(slower.schedule.segments.map(({ turn, lanes }) => [turn, lanes[0]?.first])).toEqual([
    [30, 0],
    [30, 90],
  ]);
});

test('the item of one dispatch is a small part of a kilobyte; of a hundred dispatches on one number, a few', () => {
  const bytesOf = (dispatches: number) => {
    let schedule = emptySchedule;
    for (let round = 0; round < 3; round += 1) {
      for (let dispatch = 0; dispatch < dispatches; dispatch += 1) {
        const wanted = {
          clientId: 1_001 + (dispatch % 3),
          lane: `K3J9QQ${10 + dispatch}`,
          count: 90,
          everyMs: 1_000 / 72,
        };
        schedule = reserved(schedule, { ...wanted, nowMs: nowMs + 1_000 * round + dispatch }).schedule;
      }
    }
    return JSON.stringify({ ...paceItemOf({ ...pace, schedule }), version: 1, writer: '12345678' }).length;
  };
  expect(bytesOf(1)).toBeLessThan(200);
  expect(bytesOf(2)).toBeLessThan(400);
  expect(bytesOf(100)).toBeLessThan(7_000);
});

describe("an operator's cap (D43)", () => {
  const at = (pace: NumberPace, limitPerSecond: number, atMs = nowMs) =>
    withCap(pace, { perSecond: 20, untilMs: nowMs + 60_000 }, { limitPerSecond, nowMs: atMs });

  test('counts until its time and then no more, by itself', () => {
    const capped = at(pace, 80);
    expect([0, 59_999, 60_000].map((afterMs) => perSecondOf(80, capped, nowMs + afterMs))).toEqual([20, 20, 80]);
    expect(bulkEveryMs(80, capped, nowMs)).toBeCloseTo(1_000 / 18, 9);
    expect(urgentEveryMs(80, capped, nowMs)).toBe(500);
    expect([capOf(capped, nowMs + 59_999), capOf(capped, nowMs + 60_000), capOf(pace, nowMs)]).toEqual([
      20,
      undefined,
      undefined,
    ]);
  });

  test("never exceeds the platform's own limit", () => {
    expect(perSecondOf(5, at(pace, 5), nowMs)).toBe(5);
    expect(perSecondOf(20, at(pace, 20), nowMs)).toBe(20);
  });

  test('moves what is not due yet to its pace at once, and back when it is taken away', () => {
    const capped = at(pace, 80);
    expect(capped.schedule.segments.at(-1)).toMatchObject({ everyMs: 55.5556, turn: 20 });
    expect(capped.schedule.segments.at(-1)?.fromMs).toBeGreaterThanOrEqual(changeableFromMs(nowMs));
    const uncapped = withCap(capped, undefined, { limitPerSecond: 80, nowMs });
    expect(uncapped.capped).toBeUndefined();
    expect(uncapped.schedule.segments.at(-1)).toMatchObject({ everyMs: 13.8889, turn: 30 });
  });

  test('once it has ended, the next reservation moves what is not due yet to the pace of the limit', () => {
    const capped = at(pace, 80);
    const laterMs = nowMs + 61_000;
    const everyMs = bulkEveryMs(80, capped, laterMs);
    const { schedule } = reserved(capped.schedule, { ...wantedLane, lane: 'K', count: 1, everyMs, nowMs: laterMs });
    expect(schedule.segments.at(-1)?.everyMs).toBe(13.8889);
  });

  test('what the platform teaches counts below it, and climbs back to it and no further', () => {
    const slower = slowedDown(at(pace, 80), 80, nowMs);
    expect(perSecondOf(80, slower, nowMs)).toBe(15);
    const long = withCap(slower, { perSecond: 20, untilMs: nowMs + 3_600_000 }, { limitPerSecond: 80, nowMs });
    expect(perSecondOf(80, long, nowMs + 300_000)).toBe(20);
  });

  test('is kept in the item of the number', () => {
    const capped = at(pace, 80);
    expect(paceOf({ ...paceItemOf(capped), version: 3 })).toEqual(capped);
  });
});
