import { expect, test } from 'vitest';
import { longestParkMs } from '../../lib/messages/dispatch/item-state.ts';
import { inReviewCode, opened } from '../../lib/messages/holds/hold.ts';
import { templateScope } from '../../lib/messages/holds/scope.ts';
import { scenarioHead } from '../support/scenario-dispatch.ts';
import { accept, quietWorld } from './quiet-world.ts';
import { type PipelineWorld, startMs } from './world.ts';
import type { WorldRules } from './world-parts.ts';

/* The platform says one thing of a template and does another, or says that it never comes back (D46). */

const own = { clientId: 1_001, wabaId: '200000000000001', phoneNumberId: '300000000000001' };
const hourMs = 3_600_000;
const total = 900;

function pausesOf({ told }: PipelineWorld) {
  return [...told.values()].filter(({ type }) => /^dispatch\.(parked|resumed)$/.test(type));
}

/** The platform calls the template APPROVED, and refuses its messages until then. */
function flapping(refusedUntilMs: number): PipelineWorld {
  const world: PipelineWorld = quietWorld({
    fateOf: () => (world.time.nowMs < refusedUntilMs ? 'template_paused' : 'taken'),
    templateStatus: () => 'APPROVED',
    // Senders look between a call and its refusal.
    answerMs: () => 1_500,
  } satisfies Partial<WorldRules>);
  return world;
}

const { templateName, templateLanguage } = scenarioHead;

/** The platform's word holds the template, until a reading. */
function holdByWord(world: PipelineWorld): void {
  const reason = { code: inReviewCode, nowMs: world.time.nowMs, byReading: true } as const;
  void world.holds.change(own.wabaId, opened(templateScope({ templateName, templateLanguage }), reason));
}

test('a template that is read as APPROVED and refused for a day: told once, tried ever more rarely, then expired (D46)', async () => {
  const world = flapping(Number.POSITIVE_INFINITY);
  const dispatchId = accept(world, total, own);
  holdByWord(world);
  await world.run(30 * hourMs);
  expect(pausesOf(world).map(({ type }) => type)).toEqual(['dispatch.parked']);
  // Two seconds of the pace are in hand when it is refused first; then one message asks, at last each ten minutes.
  expect(world.platform.posts.length).toBeLessThan(160 + 150);
  expect(world.platform.posts.length).toBeGreaterThan(100);
  const { stop } = world.table.states.get(dispatchId) ?? {};
  expect(stop).toMatchObject({ state: 'expired', code: inReviewCode });
  expect((stop?.atMs ?? 0) - startMs - longestParkMs).toBeGreaterThanOrEqual(0);
  expect((stop?.atMs ?? 0) - startMs - longestParkMs).toBeLessThan(120_000);
}, 120_000);

test('the same for an hour: one pause, which ends once a message is taken (D46)', async () => {
  const world = flapping(startMs + hourMs);
  accept(world, total, own);
  holdByWord(world);
  await world.run(3 * hourMs);
  const pauses = pausesOf(world);
  expect(pauses.map(({ type }) => type)).toEqual(['dispatch.parked', 'dispatch.resumed']);
  expect((pauses[1]?.timestampMs ?? 0) - startMs - hourMs).toBeGreaterThan(0);
  expect((pauses[1]?.timestampMs ?? 0) - startMs - hourMs).toBeLessThan(700_000);
  expect(world.platform.posts.filter(({ taken }) => taken)).toHaveLength(total);
}, 120_000);

test('ten dispatches of a template that its review rejects: one reading stops all of them, without a call (D46)', async () => {
  const world = quietWorld({ templateStatus: () => 'REJECTED' });
  const dispatches = Array.from({ length: 10 }, () => accept(world, 40, own));
  holdByWord(world);
  await world.run(hourMs);
  expect(world.platform.posts).toEqual([]);
  for (const dispatchId of dispatches) {
    expect(world.table.states.get(dispatchId)?.stop).toMatchObject({ state: 'failed', code: 'template_changed' });
  }
  expect(world.meter.calls.get('findTemplate')).toBe(1);
  const ends = [...world.told.values()].filter(({ type }) => type === 'dispatch.completed');
  expect(ends).toHaveLength(10);
}, 120_000);

test.each([5_000, 15_000])('a reading of two times %i ms keeps nobody else waiting (D45, D46)', async (slowMs) => {
  const world: PipelineWorld = quietWorld({
    latencyMs: (name) => (name === 'findTemplate' ? slowMs : 3),
    templateStatus: () => 'PENDING',
  });
  accept(world, 4_000, { ...own, clientId: 3 });
  const held = Array.from({ length: 12 }, (_, at) => `held_${at}`);
  for (const name of held) {
    accept(world, 40, { ...own, templateName: name });
    const reason = { code: inReviewCode, nowMs: world.time.nowMs, byReading: true } as const;
    void world.holds.change(own.wabaId, opened(templateScope({ templateName: name, templateLanguage }), reason));
  }
  let newcomer = '';
  void world.time.sleep(11_500).then(() => {
    newcomer = accept(world, 40, { ...own, clientId: 2 });
  });
  await world.run(60_000);
  const first = world.platform.posts.find(({ messageId }) => messageId.startsWith(`${newcomer}-`));
  expect(first?.atMs).toBeLessThan(startMs + 11_500 + 2_000);
  const times = world.platform.posts.map(({ atMs }) => atMs).toSorted((one, other) => one - other);
  const gaps = times.map((atMs, at) => atMs - (times[at - 1] ?? atMs));
  expect(Math.max(...gaps)).toBeLessThan(3_000);
  // Each is asked once at a time: after 10 s, and 20 s after the answer.
  expect(world.meter.calls.get('findTemplate')).toBeLessThanOrEqual(24);
});
