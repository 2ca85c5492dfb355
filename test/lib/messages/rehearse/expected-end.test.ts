import { expect, test } from 'vitest';
import { unknownPace } from '../../../../lib/messages/pace/known-pace.ts';
import { expectedEndMs } from '../../../../lib/messages/rehearse/expected-end.ts';
import type { WaitingDispatch } from '../../../../lib/messages/rehearse/waiting-dispatches.ts';

/** These cases need no whole run; test/pipeline/estimated-runs.test.ts has the runs. */

const nowMs = 1_800_000_000_000;
const head = { clientId: 1_001 };

/** Returns the seconds for these recipients, by default on an idle number of 80 a second. */
function seconds(recipients: readonly string[], more: Partial<Parameters<typeof expectedEndMs>[0]> = {}): number {
  const dispatch = { head, recipients: recipients.map((to) => ({ to })), limitPerSecond: 80, pace: unknownPace };
  return (expectedEndMs({ ...dispatch, waiting: [], nowMs, ...more }) - nowMs) / 1_000;
}

const people = (count: number) => Array.from({ length: count }, (_, at) => String(5_491_100_000_000 + at));
const samePerson = (count: number) => people(count).fill('5491100000000');

test.each([
  ['one recipient leaves at once', 1, 80, 0],
  ['ten take nine turns of nine tenths of the limit', 10, 80, 0.125],
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

test('a message that waits for the same person keeps no turn meanwhile', () => {
  // Sixteen people get 45 messages each at once, and one more each in 6 s.
  const recipients = Array.from({ length: 46 }, () => people(16)).flat();
  expect(seconds(recipients)).toBeCloseTo(719 / 72, 1);
});

/** So many of another dispatch wait in the backlog, by default of another client. */
function beside(recipients: number, other: Partial<WaitingDispatch> = {}) {
  return { waiting: [{ clientId: 2_002, recipients, dueMs: nowMs, isFront: false, ...other }] };
}

test('clients take turns, and a client its dispatches, until what others have is sent (D45)', () => {
  expect(seconds(people(721), beside(360))).toBeCloseTo(15.5, 1);
  // The sender looks, the first slice of a newcomer is next, then turns alternate.
  expect(seconds(people(721), beside(7_200))).toBeCloseTo(0.5 + 10 / 72 + (2 * 711) / 72, 1);
  expect(seconds(people(721), beside(7_200, { clientId: 1_001 }))).toBeCloseTo(0.5 + (2 * 721) / 72, 1);
  const three = [2_002, 2_002, 3_003].flatMap((clientId) => beside(7_200, { clientId }).waiting);
  expect(seconds(people(720), { waiting: three })).toBeCloseTo(0.5 + 10 / 72 + (3 * 710) / 72, 1);
});

test('what is due later takes turns from then on; what is in front goes first', () => {
  expect(seconds(people(721), beside(7_200, { dueMs: nowMs + 5_000 }))).toBeCloseTo(5 + (2 * 361) / 72, 1);
  expect(seconds(people(721), beside(7_200, { dueMs: nowMs + 60_000 }))).toBeCloseTo(10, 1);
  expect(seconds(people(721), beside(72, { isFront: true }))).toBeCloseTo(11.5, 1);
});

test('a small request beside others goes in front, with every second turn after a look of the sender', () => {
  const urgent = { head: { ...head, urgent: true as const } };
  expect(seconds(people(10), beside(1_440))).toBeCloseTo(0.5 + 20 / 72, 2);
  expect(seconds(people(10), { ...urgent, ...beside(1_440) })).toBeCloseTo(0.5 + 20 / 72, 2);
  expect(seconds(people(10), beside(1_440, { dueMs: nowMs + 1 }))).toBeCloseTo(0.125, 2);
  // More than a small request takes turns like any dispatch.
  expect(seconds(people(720), { ...urgent, ...beside(7_200) })).toBeCloseTo(0.5 + 10 / 72 + (2 * 710) / 72, 1);
});

test('a few codes have places of the last tenth beside others, if all of them have (D44)', () => {
  const urgent = { head: { ...head, urgent: true as const } };
  // Half of the tenth of 80 a second is four.
  expect(seconds(people(4), { ...urgent, ...beside(1_440) })).toBe(1);
  expect(seconds(people(5), { ...urgent, ...beside(1_440) })).toBeCloseTo(0.5 + 10 / 72, 2);
  expect(seconds(people(4), beside(1_440))).toBeCloseTo(0.5 + 8 / 72, 2);
});

test('a cap counts until its end (D43)', () => {
  const pace = { ...unknownPace, capped: { perSecond: 20, untilMs: nowMs + 10_000 } };
  expect(seconds(people(180 + 721), { pace })).toBeCloseTo(20, 1);
});

test('a pace that was learned climbs back while the dispatch goes on', () => {
  const pace = { ...unknownPace, learned: { perSecond: 40, atMs: nowMs } };
  // The number takes 54 a second on average for 300 s, then 72.
  expect(seconds(people(16_200 + 720), { pace })).toBeCloseTo(310, -1);
  // At the beginning all go at 36 a second.
  expect(seconds(people(361), { pace })).toBeCloseTo(9.9, 0);
});
