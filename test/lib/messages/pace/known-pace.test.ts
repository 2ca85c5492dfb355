import { describe, expect, test } from 'vitest';
import {
  answeringSlowly,
  blockedUntilMs,
  bulkEveryMs,
  capOf,
  isAnsweringSlowly,
  type KnownPace,
  perSecondOf,
  recipientHashOf,
  slowedDown,
  unknownPace,
  urgentEveryMs,
  withBlocked,
  withCap,
} from '../../../../lib/messages/pace/known-pace.ts';

const nowMs = 1_800_000_000_000;
const pace: KnownPace = { version: 3, pairs: [] };

test('a number takes its limit, and all but one-time codes nine tenths of it (D43)', () => {
  expect(perSecondOf(80, unknownPace, nowMs)).toBe(80);
  expect(bulkEveryMs(80, unknownPace, nowMs)).toBeCloseTo(1_000 / 72, 9);
  expect(bulkEveryMs(1_000, unknownPace, nowMs)).toBeCloseTo(1_000 / 900, 9);
});

test('a refusal makes it a quarter slower, and it climbs back in a straight line within five minutes', () => {
  const slower = slowedDown(pace, 80, nowMs);
  expect(perSecondOf(80, slower, nowMs)).toBe(60);
  expect(perSecondOf(80, slower, nowMs + 150_000)).toBe(70);
  expect(perSecondOf(80, slower, nowMs + 299_999)).toBeLessThan(80);
  expect(perSecondOf(80, slower, nowMs + 300_000)).toBe(80);
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

describe("an operator's cap (D43)", () => {
  const at = (before: KnownPace) => withCap(before, { perSecond: 20, untilMs: nowMs + 60_000 });

  test('counts until its time and then no more, by itself', () => {
    const capped = at(pace);
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
    expect(perSecondOf(5, at(pace), nowMs)).toBe(5);
    expect(perSecondOf(20, at(pace), nowMs)).toBe(20);
  });

  test('is gone where it is taken away', () => {
    expect(withCap(at(pace), undefined)).toEqual(pace);
  });

  test('what the platform teaches counts below it, and climbs back to it and no further', () => {
    const slower = slowedDown(at(pace), 80, nowMs);
    expect(perSecondOf(80, slower, nowMs)).toBe(15);
    const long = withCap(slower, { perSecond: 20, untilMs: nowMs + 3_600_000 });
    expect(perSecondOf(80, long, nowMs + 300_000)).toBe(20);
  });
});
