import { describe, expect, test } from 'vitest';
import { inReviewCode, longestUnprovenMs, noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import { ended, endedByReading, pausedUntilMs, proven } from '../../../../lib/messages/holds/hold-ends.ts';
import { probeEnded, probeOf, probeTaken } from '../../../../lib/messages/holds/questions.ts';
import type { HoldableMessage, HoldScope } from '../../../../lib/messages/holds/scope.ts';

/* What ends by a word or a reading, and opens again, is one pause (D46). */

const nowMs = 1_800_000_000_000;
const scope = 'template:order/es_AR';
const message: HoldableMessage = {
  ...{ category: 'UTILITY', path: 'messages', phoneNumberId: '1' },
  ...{ templateName: 'order', templateLanguage: 'es_AR' },
};
const inReview = opened(scope, { code: inReviewCode, nowMs, byReading: true })(noHolds);
const over = endedByReading(scope, nowMs, nowMs + 500)(inReview);

describe('an end that no message proves', () => {
  test('pauses go on for ten minutes, of what it held alone', () => {
    expect(pausedUntilMs(over, message)).toBe(nowMs + 500 + longestUnprovenMs);
    expect(pausedUntilMs(over, { ...message, templateName: 'other' })).toBe(0);
    expect([pausedUntilMs(inReview, message), pausedUntilMs(noHolds, message)]).toEqual([0, 0]);
    const unpaid = opened('waba', { code: '131042', nowMs })(over);
    const restored = ended('waba', nowMs, nowMs + 900)(unpaid);
    expect(pausedUntilMs(restored, message)).toBe(nowMs + 900 + longestUnprovenMs);
  });

  test('is proven by a message of it that was called later, and by none that was called before', () => {
    expect(proven(message, nowMs + 500)(over)).toBe(over);
    expect(proven({ ...message, templateName: 'other' }, nowMs + 501)(over)).toBe(over);
    const after = proven(message, nowMs + 501)(over);
    expect([after.unproven, pausedUntilMs(after, message)]).toEqual([{}, 0]);
    expect(proven(message, nowMs)(noHolds)).toBe(noHolds);
  });

  test('a template that is held again within ten minutes is asked as rarely as before; later, or proven, as a new one', () => {
    const unsendable = opened(scope, { code: '132015', nowMs })(noHolds);
    const asked = [10_000, 80_000].reduce((holds, afterMs) => {
      const taken = probeTaken(message, nowMs + afterMs)(holds);
      return probeEnded(probeOf(taken, message), 'refused', nowMs + afterMs)(taken);
    }, unsendable);
    const restored = ended(scope, nowMs, nowMs + 90_000)(asked);
    const again = (atMs: number, from = restored) => opened(scope, { code: '132015', nowMs: atMs })(from);
    const soonMs = nowMs + 90_000 + longestUnprovenMs - 1;
    expect(again(soonMs).holds[scope]).toMatchObject({ sinceMs: soonMs, asks: 2, nextAskMs: soonMs + 40_000 });
    expect(again(soonMs + 1).holds[scope]).toMatchObject({ asks: 0, nextAskMs: soonMs + 10_001 });
    expect(again(soonMs, proven(message, nowMs + 90_001)(restored)).holds[scope]?.asks).toBe(0);
    // The hold itself is what pauses now.
    expect([again(soonMs).unproven, pausedUntilMs(again(soonMs), message)]).toEqual([{}, 0]);
  });

  test('an account that is held again is asked soon: one late refusal must not hold many clients for long', () => {
    const unpaid = opened('waba', { code: '131042', nowMs })(noHolds);
    const taken = probeTaken(message, nowMs + 10_000)(unpaid);
    const asked = probeEnded(probeOf(taken, message), 'refused', nowMs + 10_000)(taken);
    const again = opened('waba', { code: '131042', nowMs: nowMs + 20_000 })(
      ended('waba', nowMs, nowMs + 19_000)(asked),
    );
    expect(again.holds.waba).toMatchObject({ asks: 0, nextAskMs: nowMs + 30_000 });
  });

  test('a taken probe is a proof', () => {
    const taken = probeTaken(message, nowMs + 10_000)(opened('waba', { code: '131042', nowMs })(noHolds));
    expect(probeEnded(probeOf(taken, message), 'taken', nowMs + 10_001)(taken)).toEqual(noHolds);
  });

  test('the newest hundred are known', () => {
    const many = Array.from({ length: 120 }, (_, at): HoldScope => `template:t${at}/en`);
    const all = many.reduce((holds, each, at) => {
      return ended(each, nowMs + at, nowMs + at)(opened(each, { code: '132015', nowMs: nowMs + at })(holds));
    }, noHolds);
    expect(Object.keys(all.unproven ?? {})).toHaveLength(100);
    expect(all.unproven).toHaveProperty(['template:t119/en']);
  });
});
