import { expect, test } from 'vitest';
import { newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import { callFactsOf } from '../../../../lib/messages/dispatch/call-facts.ts';
import { cancelled, longestParkMs } from '../../../../lib/messages/dispatch/item-state.ts';
import { opened as openBreaker, unknownBreaker } from '../../../../lib/messages/holds/breaker.ts';
import { inReviewCode, noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import { probeTaken, readAs, readingTaken } from '../../../../lib/messages/holds/questions.ts';
import { heldUntilMs, heldUntilOfEntry, parkedEntryOf, wakeMsOf } from '../../../../lib/messages/sender/held-until.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { templateScope } from './slice-run-world.ts';

/** How long a parked dispatch waits, by its holds alone (D46): the dispatch in hand and its entry say the same. */

const facts = callFactsOf(scenarioHead, { limitPerSecond: 80 });
const parked = { code: '131042', scope: 'waba', sinceMs: startMs } as const;
const unpaid = opened('waba', { code: '131042', nowMs: startMs })(noHolds);
const nextAskMs = startMs + 10_000;
const { pk: _pk, sk: _sk, ...entry } = newEntry(scenarioHead);
const message = {
  ...{ category: facts.category, path: facts.path, phoneNumberId: facts.phoneNumberId },
  ...{ templateName: scenarioHead.templateName, templateLanguage: scenarioHead.templateLanguage },
};
const asked = probeTaken(message, nextAskMs)(unpaid);
const paused = opened(templateScope, { code: '132015', nowMs: startMs + 3_000 })(unpaid);
const inReview = opened(templateScope, { code: inReviewCode, nowMs: startMs, byReading: true })(unpaid);
const inReviewLater = opened(templateScope, { code: inReviewCode, nowMs: startMs + 5_000, byReading: true })(unpaid);
const beingRead = readingTaken(templateScope, nextAskMs)(inReview);
const gone = (atMs: number) =>
  readAs(
    { scope: templateScope, sinceMs: startMs, ask: 1 },
    { state: 'failed', code: 'template_deleted', atMs },
    startMs + 20_000,
  )(beingRead);
const far = opened('waba', { code: '368', nowMs: startMs + 3_600_000, untilMs: startMs + 9 * longestParkMs })(noHolds);
const down = openBreaker(startMs)(unknownBreaker);

test.each([
  ['until its hold may be asked', { holds: unpaid }, startMs + 1, nextAskMs],
  ['until the last of its holds may be asked', { holds: paused }, startMs + 1, nextAskMs + 3_000],
  ['until a question is over', { holds: asked }, nextAskMs + 1, asked.holds.waba?.askedUntilMs],
  ['until its template may be read, whatever else holds it', { holds: inReviewLater }, startMs + 1, nextAskMs + 5_000],
  ['while a reading is under way', { holds: beingRead }, startMs + 1, nextAskMs + 60_000],
  ['no longer once a reading says that its template is gone', { holds: gone(startMs + 1) }, startMs + 20_001, 0],
  ['for the next reading, accepted later', { holds: gone(startMs) }, startMs + 20_001, startMs + 40_000],
  ['no longer than its time to live', { holds: far }, startMs + longestParkMs - 1, startMs + longestParkMs],
  ['no longer than a day', { holds: inReview }, startMs + longestParkMs, 0],
  ['for nothing once no hold is left', { holds: noHolds }, startMs + 1, 0],
  ['until the platform as a whole is asked', { holds: noHolds, breaker: down }, startMs + 1, down?.open?.probeAtMs],
])('it waits %s', (_, of, nowMs, untilMs) => {
  const holding = { breaker: unknownBreaker, ...of };
  expect(heldUntilMs({ parked }, holding, facts, nowMs)).toBe(untilMs);
  const parkedEntry = parkedEntryOf({ parked }, facts);
  expect(heldUntilOfEntry({ ...entry, parked: parkedEntry }, holding, nowMs)).toBe(untilMs);
});

test('what is not parked has to find that out, and what is stopped to be told', () => {
  const holding = { holds: unpaid, breaker: undefined };
  expect(heldUntilMs({}, holding, facts, startMs)).toBe(0);
  expect(heldUntilOfEntry(entry, holding, startMs)).toBe(0);
  expect(heldUntilMs({ parked, stop: cancelled(startMs) }, holding, facts, startMs)).toBe(0);
  expect(heldUntilMs({ stop: cancelled(startMs) }, { holds: noHolds, breaker: down }, facts, startMs)).toBe(0);
  expect([parkedEntryOf({}, facts), parkedEntryOf({ parked, stop: cancelled(startMs) }, facts)]).toEqual([
    undefined,
    undefined,
  ]);
});

test('a sweep wakes its number when both hold and entry let it', () => {
  const held = { ...entry, parked: parkedEntryOf({ parked }, facts) };
  const holding = { holds: unpaid, breaker: undefined };
  expect(wakeMsOf(held, holding, startMs)).toBe(nextAskMs);
  expect(wakeMsOf({ ...held, notBeforeMs: nextAskMs + 1 }, holding, startMs)).toBe(nextAskMs + 1);
});

test('a verdict lets each number of the WABA be woken at once, not when the template is read next', () => {
  const held = { ...entry, parked: parkedEntryOf({ parked }, facts) };
  const holding = { holds: gone(startMs + 1), breaker: undefined };
  const nowMs = startMs + 20_001;
  expect(holding.holds.holds[templateScope]?.nextAskMs).toBeGreaterThan(nowMs);
  for (const phoneNumberId of [held.phoneNumberId, 'another']) {
    expect(wakeMsOf({ ...held, phoneNumberId }, holding, nowMs)).toBe(held.notBeforeMs);
  }
});
