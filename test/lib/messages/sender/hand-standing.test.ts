import { expect, test } from 'vitest';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { endedByReading, type HoldRule, inReviewCode, opened } from '../../../../lib/messages/holds/hold.ts';
import { standingOf } from '../../../../lib/messages/sender/hand-standing.ts';
import { SliceRunWorld, startMs, templateScope } from './slice-run-world.ts';

/** What a sender does with a dispatch before it claims a slice (D46, D53). */

const inReview = opened(templateScope, { code: inReviewCode, nowMs: startMs, byReading: true });
const reviewed: HoldRule = (holds) => endedByReading(templateScope, startMs, startMs + 1)(inReview(holds));
const paused = opened(templateScope, { code: '132015', nowMs: startMs });
const unpaid = opened('waba', { code: '131042', nowMs: startMs });
const reason = { code: 'template_paused', scope: 'template' };

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
  expect(await standing([paused])).toEqual({ kind: 'held', reason });
  expect(await standing([paused, unpaid])).toEqual({ kind: 'held', reason: { code: '131042', scope: 'waba' } });
  expect(await standing([paused], { afterMs: 10_000 })).toEqual({ kind: 'free' });
  expect(
    await standing([paused, (holds) => opened('waba', { code: '131042', nowMs: startMs + 5_000 })(holds)], {
      afterMs: 10_000,
    }),
  ).toMatchObject({ kind: 'held' });
});

test('held for a day, its slices end uncalled', async () => {
  const state = { parked: { ...reason, scope: 'template', sinceMs: startMs - 86_400_000 } } as const;
  expect(await standing([paused], { state })).toEqual({ kind: 'free' });
});

test('reviewed since it was judged, it is judged again, also before it asks of another hold', async () => {
  expect(await standing([reviewed])).toEqual({ kind: 'outdated' });
  expect(await standing([reviewed], { judgedMs: startMs + 1 })).toEqual({ kind: 'free' });
  expect(await standing([reviewed, unpaid], { afterMs: 60_000 })).toEqual({ kind: 'outdated' });
  // In another review there is nothing to judge yet, and no message asks.
  expect(await standing([reviewed, inReview], { afterMs: 60_000 })).toMatchObject({ kind: 'held' });
});
