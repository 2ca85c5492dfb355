import { expect, test } from 'vitest';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { type HoldRule, inReviewCode, opened } from '../../../../lib/messages/holds/hold.ts';
import { endedByReading } from '../../../../lib/messages/holds/hold-ends.ts';
import { readAs, readingTaken } from '../../../../lib/messages/holds/questions.ts';
import { standingOf } from '../../../../lib/messages/sender/hand-standing.ts';
import { scenarioHead } from '../../../support/scenario-dispatch.ts';
import { SliceRunWorld, startMs, templateScope } from './slice-run-world.ts';

/** What a sender does with a dispatch before it claims a slice (D46, D53). */

const inReview = opened(templateScope, { code: inReviewCode, nowMs: startMs, byReading: true });
const reviewed: HoldRule = (holds) => endedByReading(templateScope, startMs, startMs + 1)(inReview(holds));
const paused = opened(templateScope, { code: '132015', nowMs: startMs });
const unpaid = opened('waba', { code: '131042', nowMs: startMs });

async function standing(rules: readonly HoldRule[], { state = {}, judgedMs = startMs, afterMs = 1 } = {}) {
  const world = new SliceRunWorld();
  for (const rule of rules) world.rule(rule);
  world.accept(10);
  world.states.set('J', { begun: true, ...state });
  world.judged = { judgedMs };
  const hand = await world.handOf('J');
  return standingOf(hand, world.holds.of(hand.facts.wabaId), startMs + afterMs);
}

test('without a hold its slices may be claimed', async () => {
  expect(await standing([])).toEqual({ kind: 'free' });
});

test('stopped, its rest is told before anything else', async () => {
  expect(await standing([paused], { state: { stop: cancelled(startMs) } })).toEqual({ kind: 'stopped' });
});

test('held, it waits for the widest hold until all of them may be asked', async () => {
  expect(await standing([paused])).toMatchObject({ kind: 'held', widest: { scope: templateScope } });
  expect(await standing([paused, unpaid])).toMatchObject({ kind: 'held', widest: { scope: 'waba' } });
  expect(await standing([paused], { afterMs: 10_000 })).toEqual({ kind: 'free' });
  expect(
    await standing([paused, (holds) => opened('waba', { code: '131042', nowMs: startMs + 5_000 })(holds)], {
      afterMs: 10_000,
    }),
  ).toMatchObject({ kind: 'held' });
});

test('held for a day it is stopped, with the code of what it was parked for', async () => {
  const parked = { code: 'template_paused', scope: 'template', sinceMs: startMs - 86_400_000 } as const;
  const over = { kind: 'over', settlement: { state: 'expired', code: 'template_paused' } };
  expect(await standing([paused], { state: { parked }, afterMs: 0 })).toEqual(over);
  expect(await standing([paused], { state: { parked }, afterMs: -1 })).toMatchObject({ kind: 'held' });
  expect(await standing([], { state: { parked }, afterMs: 0 })).toEqual({ kind: 'free' });
});

test('its template is read when that is due and no other sender reads it, whatever else holds the dispatch', async () => {
  expect(await standing([inReview], { afterMs: 9_999 })).not.toHaveProperty('read.scope');
  for (const rules of [[inReview], [inReview, unpaid]]) {
    expect(await standing(rules, { afterMs: 10_000 })).toMatchObject({ kind: 'held', read: { scope: templateScope } });
  }
  const read = readingTaken(templateScope, startMs + 10_000);
  expect(await standing([inReview, read], { afterMs: 69_999 })).not.toHaveProperty('read.scope');
  expect(await standing([inReview, read], { afterMs: 70_000 })).toHaveProperty('read.scope');
});

test('a reading that finds its template gone stops what was accepted before it, and nothing later', async () => {
  const verdictAt = (atMs: number) =>
    readAs({ scope: templateScope, sinceMs: startMs, ask: 0 }, { ...settlement, atMs }, startMs);
  const settlement = { state: 'failed', code: 'template_deleted' } as const;
  const { acceptedAtMs } = scenarioHead;
  expect(await standing([inReview, verdictAt(acceptedAtMs + 1)])).toEqual({ kind: 'over', settlement });
  expect(await standing([inReview, verdictAt(acceptedAtMs)])).toMatchObject({ kind: 'held' });
});

test('an approval that is read after the verdict counts: it is judged again', async () => {
  const verdict = { state: 'failed', code: 'template_changed', atMs: startMs + 1 } as const;
  const rejected = readAs({ scope: templateScope, sinceMs: startMs, ask: 0 }, verdict, startMs + 1);
  const approved = endedByReading(templateScope, startMs, startMs + 2);
  expect(await standing([inReview, rejected], { afterMs: 2 })).toMatchObject({ kind: 'over' });
  expect(await standing([inReview, rejected, approved], { afterMs: 2 })).toEqual({ kind: 'outdated' });
});

test('reviewed since it was judged, it is judged again, also before it asks of another hold', async () => {
  expect(await standing([reviewed])).toEqual({ kind: 'outdated' });
  expect(await standing([reviewed], { judgedMs: startMs + 1 })).toEqual({ kind: 'free' });
  expect(await standing([reviewed, unpaid], { afterMs: 60_000 })).toEqual({ kind: 'outdated' });
  // In another review there is nothing to judge yet, and no message asks.
  expect(await standing([reviewed, inReview], { afterMs: 60_000 })).toMatchObject({ kind: 'held' });
});
