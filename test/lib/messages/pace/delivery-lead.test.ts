import { describe, expect, test } from 'vitest';
import {
  deliveryLeadMs,
  queueAtMs,
  queueDelaySeconds,
  withLongerLead,
  withShorterLead,
} from '../../../../lib/messages/pace/delivery-lead.ts';
import { type NumberPace, unknownPace } from '../../../../lib/messages/pace/number-pace.ts';

const nowMs = 1_800_000_000_400;

describe('a delivery comes shortly before its slot', () => {
  test.each([
    [0, 0],
    [1_349, 0],
    [1_350, 1],
    [5_999, 5],
    [2_000_000, 900],
  ])('a slot in %i ms is a delay of %i s', (aheadMs, seconds) => {
    expect(queueDelaySeconds(nowMs + aheadMs, nowMs, 350)).toBe(seconds);
  });

  test.each([
    [0, 0],
    [1_349, 0],
    [1_350, 0],
    [1_351, 1],
    [2_349, 999],
    [7_000, 650],
  ])('for a slot in %i ms it is queued in %i ms, and never later than that', (aheadMs, inMs) => {
    expect(queueAtMs(nowMs + aheadMs, nowMs, 350)).toBe(nowMs + inMs);
  });
});

describe('how long before, is learned', () => {
  test('a number that has learned nothing trusts no queue', () => {
    expect(deliveryLeadMs(unknownPace)).toBe(1_100);
  });

  test('where nothing comes late, 15,000 messages later it is the shortest, and stays that', () => {
    let pace: NumberPace = unknownPace;
    for (let queued = 0; queued < 15_000; queued += 500) pace = withShorterLead(pace, 500);
    expect(deliveryLeadMs(pace)).toBe(350);
    expect(deliveryLeadMs(withShorterLead(pace, 500))).toBe(350);
  });

  test('what comes late makes it longer, to the longest at most', () => {
    expect(deliveryLeadMs(withLongerLead({ ...unknownPace, leadMs: 350 }))).toBe(450);
    expect(deliveryLeadMs(withLongerLead({ ...unknownPace, leadMs: 1_050 }))).toBe(1_100);
  });

  test('it stays where one delivery of ten in two hundred comes late', () => {
    const pace = { ...unknownPace, leadMs: 700 };
    expect(deliveryLeadMs(withLongerLead(withShorterLead(pace, 2_000)))).toBe(700);
  });
});
