import fc from 'fast-check';
import { expect, test } from 'vitest';
import { usableUntilMs } from '../../../../lib/messages/dispatch/slots.ts';
import { roomBehindMs, withBehind } from '../../../../lib/messages/pace/keeping-up.ts';
import { bulkEveryMs, bulkPerSecond, type NumberPace, slowedDown } from '../../../../lib/messages/pace/number-pace.ts';
import { changeableFromMs, emptySchedule, reserved, type Turn } from '../../../../lib/messages/pace/schedule.ts';
import { reserveUrgent } from '../../../../lib/messages/pace/urgent.ts';
import { dispatchMessage } from '../../../faults/scenario-job.ts';
import { memoryPaces, memoryTenths } from '../../../support/memory-paces.ts';

const nowMs = 1_800_000_000_000;
const limitPerSecond = 1_000;
const lane = { clientId: 1, lane: 'J' };

/** So many messages wait, at the pace of the number. */
function waiting(count: number, pace: NumberPace = { version: 1, schedule: emptySchedule, pairs: [] }, atMs = nowMs) {
  const everyMs = bulkEveryMs(limitPerSecond, pace, atMs);
  const { schedule, firstPosition } = reserved(pace.schedule, { ...lane, count, everyMs, nowMs: atMs });
  return { pace: { ...pace, schedule }, firstPosition };
}

const busy = waiting(5_000).pace;
const behind = (pace: NumberPace, count: number, byMs: number, atMs = nowMs) =>
  withBehind(pace, { count, byMs, limitPerSecond, nowMs: atMs });

test('what comes behind its slot within three seconds makes the schedule slower, a hundred at the latest (D43)', () => {
  const some = behind(behind(busy, 50, 500), 49, 500, nowMs + 2_000);
  expect(some).toEqual({ ...busy, behind: { count: 99, sinceMs: nowMs } });
  expect(behind(some, 10, 500, nowMs + 3_000)).toEqual({ ...busy, behind: { count: 10, sinceMs: nowMs + 3_000 } });
  const slower = behind(some, 1, 500, nowMs + 2_999);
  expect(slower).toMatchObject({ kept: { perSecond: 900 * (8 / 8.5), atMs: nowMs + 2_999 } });
  expect(slower.behind).toBeUndefined();
  expect(slower.schedule.segments.at(-1)?.everyMs).toBeCloseTo(1_000 / (900 * (8 / 8.5)), 3);
  expect(slower.schedule.segments.at(-1)?.fromMs).toBeGreaterThanOrEqual(changeableFromMs(nowMs + 2_999));
});

test.each([
  // Half of what leaves in three seconds, three batches at least.
  [40, 54],
  [20, 30],
])('a number of %i a second is told by %i', (limit, telling) => {
  const at = (count: number) => withBehind(busy, { count, byMs: 500, limitPerSecond: limit, nowMs }).kept;
  expect([at(telling - 1), at(telling)]).toEqual([undefined, expect.anything()]);
});

test.each([
  [80, 900 * (8 / 8.08)],
  [8_000, 450],
  [24_000, 225],
])('who is %i ms behind makes 900 a second %f', (byMs, perSecond) => {
  expect(bulkPerSecond(limitPerSecond, behind(busy, 100, byMs), nowMs)).toBeCloseTo(perSecond, 9);
});

test('one step in three seconds, whosoever clock is behind; never below one a second; then up by a little in five', () => {
  const slower = behind(busy, 100, 8_000);
  expect(behind(slower, 100, 8_000, nowMs + 2_999)).toBe(slower);
  expect(behind(slower, 100, 8_000, nowMs - 300)).toBe(slower);
  expect(behind(slower, 100, 8_000, nowMs + 3_000)).toMatchObject({ kept: { perSecond: 225, atMs: nowMs + 3_000 } });
  expect(bulkPerSecond(limitPerSecond, slower, nowMs + 4_999)).toBe(450);
  expect(bulkPerSecond(limitPerSecond, slower, nowMs + 5_000)).toBeCloseTo(463.5, 9);
  expect(bulkPerSecond(limitPerSecond, slower, nowMs + 115_000)).toBeLessThan(900);
  expect(bulkPerSecond(limitPerSecond, slower, nowMs + 120_000)).toBe(900);
  expect(bulkPerSecond(limitPerSecond, slower, nowMs + 10 * 365 * 86_400_000)).toBe(900);
  expect(bulkPerSecond(limitPerSecond, behind(busy, 100, 10 ** 9), nowMs)).toBe(1);
  // Clocks that are apart, and one of tomorrow.
  expect(bulkPerSecond(limitPerSecond, slower, nowMs - 3_000)).toBe(450);
  expect(bulkPerSecond(limitPerSecond, slower, nowMs - 3_001)).toBe(900);
});

test('the platform is not thought slower for it, nor faster: its refusals count from what the number takes', () => {
  const slower = behind(busy, 100, 8_000);
  expect(slowedDown(slower, limitPerSecond, nowMs)).toMatchObject({
    learned: { perSecond: 750 },
    kept: { perSecond: 450 },
  });
  expect(bulkPerSecond(limitPerSecond, slowedDown(busy, limitPerSecond, nowMs), nowMs)).toBe(675);
});

test('room behind a slot is what the pace leaves of the number, once the faster slots before it are over', () => {
  const look = (pace: NumberPace, atMs = nowMs) => ({ pace, limitPerSecond, nowMs: atMs });
  expect(roomBehindMs(nowMs + 4_000, look(busy))).toBe(0);
  const slower = behind(busy, 100, 8_000);
  // Slots of the next two seconds stay, as close as they were.
  expect(roomBehindMs(nowMs + 1_000, look(slower))).toBeLessThan(1);
  expect(roomBehindMs(nowMs + 4_000, look(slower))).toBeCloseTo(1_000, 0);
  expect(roomBehindMs(nowMs + 4_000, look(slower, nowMs + 120_000))).toBe(0);
  const turn: Turn = { ...lane, position: 3_000 };
  const inTurn = dispatchMessage(0, { limitPerSecond, turn });
  expect(usableUntilMs(inTurn, nowMs + 4_000, slower, nowMs)).toBeCloseTo(nowMs + 4_964, 0);
  expect(usableUntilMs(inTurn, nowMs + 4_000, busy, nowMs)).toBe(nowMs + 4_075);
  // A slot of the last tenth lies beside the schedule.
  expect(usableUntilMs(dispatchMessage(0, { limitPerSecond }), nowMs + 4_000, slower, nowMs)).toBe(nowMs + 4_075);
});

test('one-time codes on an idle number are no slower for it: they have workers of their own (D44)', async () => {
  const paces = memoryPaces();
  paces.stored.set('1', { version: 1, schedule: emptySchedule, pairs: [], kept: { perSecond: 2, atMs: nowMs } });
  const ports = { paces, tenths: memoryTenths() };
  const wanted = { phoneNumberId: '1', limitPerSecond: 80, clientId: 1, count: 10 };
  const { slots } = await reserveUrgent(ports, wanted, nowMs);
  expect(slots.at(-1)?.slotMs).toBe(nowMs + 125);
});

const step = fc.record({
  afterMs: fc.integer({ min: 0, max: 4_000 }),
  count: fc.integer({ min: 1, max: 500 }),
  byMs: fc.option(fc.integer({ min: 76, max: 20_000 }), { nil: undefined }),
});

test('however late each message leaves within what its slot allows: no second has more than the number may send (D43)', () => {
  const tightest = { calls: 0 };
  fc.assert(
    fc.property(fc.array(step, { minLength: 3, maxLength: 25 }), (steps) => {
      let pace: NumberPace = { version: 1, schedule: emptySchedule, pairs: [] };
      let atMs = nowMs;
      // When each message may be with the platform, as whoever read the schedule at any time takes it.
      const spans = new Map<number, { fromMs: number; untilMs: number }>();
      for (const { afterMs, count, byMs } of steps) {
        atMs += afterMs;
        ({ pace } = waiting(count, pace, atMs));
        if (byMs !== undefined) pace = behind(pace, 100, byMs, atMs);
        for (const { fromMs, everyMs, lanes } of pace.schedule.segments) {
          for (let at = 0; at < (lanes[0]?.count ?? 0); at += 1) {
            const slotMs = Math.floor(fromMs + at * everyMs);
            // Nobody acts on a slot that may still move.
            if (slotMs >= changeableFromMs(atMs)) break;
            const position = (lanes[0]?.first ?? 0) + at;
            const message = dispatchMessage(0, { limitPerSecond, turn: { ...lane, position } });
            const untilMs = usableUntilMs(message, slotMs, pace, atMs) + 36;
            const before = spans.get(position);
            spans.set(position, { fromMs: slotMs, untilMs: Math.max(untilMs, before?.untilMs ?? 0) });
          }
        }
      }
      const begins = [...spans.values()].map(({ fromMs }) => fromMs).toSorted((one, other) => one - other);
      const ends = [...spans.values()].map(({ untilMs }) => untilMs).toSorted((one, other) => one - other);
      let begun = 0;
      for (const [over, endMs] of ends.entries()) {
        // All that may come within the second that begins when this one comes as late as it may.
        while (begun < begins.length && (begins[begun] ?? 0) < endMs + 1_000) begun += 1;
        tightest.calls = Math.max(tightest.calls, begun - over);
      }
      expect(tightest.calls).toBeLessThanOrEqual(limitPerSecond + 1);
    }),
    { numRuns: 300 },
  );
  // The bound is near: it is not kept by chance.
  expect(tightest.calls).toBeGreaterThan(0.9 * limitPerSecond);
});
