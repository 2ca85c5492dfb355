import { expect, test } from 'vitest';
import { unknownPace } from '../../../../lib/messages/pace/number-pace.ts';
import { emptySchedule, reserved } from '../../../../lib/messages/pace/schedule.ts';
import { expectedEndMs } from '../../../../lib/messages/rehearse/expected-end.ts';

/** These cases need no whole run; test/pipeline/estimated-runs.test.ts has the runs. */

const nowMs = 1_800_000_000_000;
const head = { dispatchId: '01JD0000000000000000000001', clientId: 1_001 };
const everyMs = 1_000 / 72;

/** Returns the seconds for these recipients, by default on an idle number of 80 a second. */
function seconds(recipients: readonly string[], more: Partial<Parameters<typeof expectedEndMs>[0]> = {}): number {
  const dispatch = { head, recipients: recipients.map((to) => ({ to })), limitPerSecond: 80, pace: unknownPace, nowMs };
  return (expectedEndMs({ ...dispatch, ...more }) - nowMs) / 1_000;
}

const people = (count: number) => Array.from({ length: count }, (_, at) => String(5_491_100_000_000 + at));
const samePerson = (count: number) => people(count).fill('5491100000000');

test.each([
  ['one recipient leaves at once', 1, 80, 0],
  ['ten take nine slots of nine tenths of the limit', 10, 80, 0.125],
  ['721 take ten seconds', 721, 80, 10],
  ['10,000 of a fast number', 10_000, 1_000, 11.11],
  ['10,000 of a number that a person uses too', 10_000, 20, 555.5],
])('%s', (_, count, limitPerSecond, expected) => {
  expect(seconds(people(count), { limitPerSecond })).toBeCloseTo(expected, 1);
});

test('one person gets 45 of a dispatch at once, then one in 6 s (D43)', () => {
  expect(seconds(samePerson(45))).toBeLessThan(1);
  expect(seconds(samePerson(47))).toBe(12);
  expect(seconds([...samePerson(47), ...people(1_440)])).toBeGreaterThan(20);
});

test('a message that waits for the same person keeps no slot meanwhile', () => {
  // Sixteen people get 45 messages each at once, and one more each in 6 s.
  const recipients = Array.from({ length: 46 }, () => people(16)).flat();
  expect(seconds(recipients)).toBeCloseTo(719 / 72, 1);
});

/** Gives this many slots to another lane, by default of another client. */
function beside(count: number, other = { clientId: 2_002, lane: 'campaign' }) {
  const { schedule } = reserved(emptySchedule, { ...other, count, everyMs, nowMs: nowMs - 5_000 });
  return { pace: { ...unknownPace, schedule } };
}

test('a lane whose slots end soon counts with them; one whose slots go on is taken to share for as long (D45)', () => {
  // The other lane is 5 seconds ahead and keeps at least 72 slots; the rest alternate with ours.
  expect(seconds(people(720), beside(720))).toBeCloseTo(15, 0);
  expect(seconds(people(720), beside(1_440))).toBeCloseTo(20.8, 0);
  expect(seconds(people(1_440), beside(1_440))).toBeCloseTo(40.8, 0);
});

test.each([
  ['another campaign of the same client', { clientId: 1_001, lane: 'campaign' }, 40.8],
  ['one of another client that has the same name by chance', { clientId: 2_002, lane: '00000001' }, 40.8],
  ['its own, from before: behind it', { clientId: 1_001, lane: '00000001' }, 35],
])('turns are taken with every other lane: %s', (_, lane, expected) => {
  expect(seconds(people(1_440), beside(1_440, lane))).toBeCloseTo(expected, 0);
});

test('a few that are no codes take the next turn, which begins within a second or so; more codes than a few too', () => {
  const urgent = { head: { ...head, urgent: true as const } };
  expect(seconds(people(10), beside(1_440))).toBeCloseTo(1.375, 2);
  expect(seconds(people(11), { ...urgent, ...beside(1_440) })).toBeCloseTo(1.389, 2);
});

test('a few one-time codes go by the last tenth while others wait, or in front of them (D44); many take turns like any dispatch', () => {
  const urgent = { head: { ...head, urgent: true as const } };
  expect(seconds(people(10), urgent)).toBeCloseTo(0.125, 1);
  expect(seconds(people(9), { ...urgent, ...beside(1_440) })).toBeCloseTo(1, 2);
  expect(seconds(people(10), { ...urgent, ...beside(1_440) })).toBeCloseTo(1.375, 2);
  // The last tenth has slots half a second apart: three codes fit into a second; four go in front of the other lane
  // after its turn.
  expect(seconds(people(3), { ...urgent, ...beside(1_440), limitPerSecond: 20 })).toBe(1);
  expect(seconds(people(4), { ...urgent, ...beside(1_440), limitPerSecond: 20 })).toBeCloseTo(1.25 + 3 / 18, 1);
  expect(seconds(people(720), { ...urgent, ...beside(1_440) })).toBeCloseTo(20.8, 0);
});

test('a pace that was learned climbs back while the dispatch goes on', () => {
  const pace = { ...unknownPace, learned: { perSecond: 40, atMs: nowMs } };
  // The number takes 54 a second for 300 s, then 72; slots keep the pace of 10 s earlier.
  expect(seconds(people(16_200 + 720), { pace })).toBeCloseTo(316, -1);
  // At the beginning all go at 36 a second.
  expect(seconds(people(361), { pace })).toBeCloseTo(9.9, 0);
});
