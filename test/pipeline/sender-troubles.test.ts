import { expect, test } from 'vitest';
import { cancelled } from '../../lib/messages/dispatch/item-state.ts';
import { isOfPart } from '../../lib/messages/sender/entry-progress.ts';
import { makeDispatch, makeRecipients } from '../support/made-dispatches.ts';
import { accept, quietRules } from './quiet-world.ts';
import { scheduledDispatch } from './scheduled-world.ts';
import { PipelineWorld, startMs, type WorldRules } from './world.ts';

/** What goes wrong around a sender: a store out of reach, damaged data, a slow table, news and wakes that are lost. */

const worldOf = (rules: Partial<WorldRules> = {}) => new PipelineWorld(quietRules(rules));
const takenIn = (world: PipelineWorld) => world.platform.posts.filter(({ taken }) => taken);
const toldIn = (world: PipelineWorld, wanted: string) => [...world.told.values()].filter(({ type }) => type === wanted);
const completedMs = (world: PipelineWorld) =>
  toldIn(world, 'dispatch.completed')[0]?.timestampMs ?? Number.POSITIVE_INFINITY;
const between = (world: PipelineWorld, fromMs: number, untilMs: number) =>
  world.time.nowMs >= startMs + fromMs && world.time.nowMs < startMs + untilMs;

test('while the store is out of reach no dispatch is blamed: all go on seconds after it is back (D25)', async () => {
  const faultOf: WorldRules['faultOf'] = (name) =>
    ['findItem', 'findPage'].includes(name) && between(world, 0, 20_000) ? 'fails' : undefined;
  const world: PipelineWorld = worldOf({ faultOf });
  for (let at = 0; at < 3; at += 1) accept(world, 40, { clientId: at });
  let failures = 0;
  void world.time.sleep(21_000).then(() => {
    for (const { parts = [] } of world.backlog.entries.values()) {
      for (const part of parts) failures += part.failures ?? 0;
    }
  });
  await world.run(600_000);
  expect(failures).toBe(0);
  expect(takenIn(world)).toHaveLength(120);
  expect(Math.max(...takenIn(world).map(({ atMs }) => atMs))).toBeLessThan(startMs + 20_000 + 5_000);
});

/** The recipients from 500 to 999 cannot be read until then. */
function acceptDamaged(world: PipelineWorld, untilMs: number): string {
  const dispatchId = '01JP0000000000000000000000';
  const recipients = makeRecipients(1_500);
  const slice = (from: number, to: number) => {
    if (from >= 500 && from < 1_000 && world.time.nowMs < untilMs) throw new TypeError('damaged');
    return [...recipients].slice(from, to);
  };
  world.accept(makeDispatch(Object.assign(recipients, { slice }), { dispatchId, acceptedAtMs: startMs }));
  return dispatchId;
}

test('a damaged page keeps back its own recipients alone, ever longer, until it is mended (R14)', async () => {
  const world = worldOf();
  const dispatchId = acceptDamaged(world, startMs + 900_000);
  const seen: unknown[] = [];
  const lookAt = async (atMs: number) => {
    await world.time.sleep(atMs);
    const { parts } = world.backlog.entries.get(dispatchId) ?? {};
    seen.push([takenIn(world).length, toldIn(world, 'dispatch.completed').length, parts?.[0]?.failures]);
  };
  for (const atMs of [30_000, 100_000, 800_000]) void lookAt(atMs);
  await world.run(3_600_000);
  expect(seen).toEqual([
    [1_000, 0, 1],
    [1_000, 0, 2],
    [1_000, 0, 4],
  ]);
  // Each time is told once, not for each slice.
  expect(world.logged.get('dispatch.unreadable')).toBe(4);
  expect(takenIn(world)).toHaveLength(1_500);
  expect(toldIn(world, 'dispatch.completed')).toHaveLength(1);
});

test('the rest of a stopped dispatch is told but for what cannot be read, which follows (D53)', async () => {
  const world = worldOf({ random: () => 0.5 });
  const dispatchId = acceptDamaged(world, startMs + 300_000);
  void world.cancel(dispatchId, cancelled(startMs + 2_000), 2_000);
  let early = 0;
  void world.time.sleep(10_000).then(() => {
    early = toldIn(world, 'message.failed').length + takenIn(world).length;
  });
  await world.run(1_800_000);
  expect(early).toBe(1_000);
  expect(toldIn(world, 'message.failed').length + takenIn(world).length).toBe(1_500);
  expect(completedMs(world)).toBeGreaterThan(startMs + 300_000);
  expect(world.backlog.size).toBe(0);
  // Fifty slices were tried five times at most.
  expect(world.meter.calls.get('findPage')).toBeLessThan(400);
});

test('the rest of ten thousand is told within five seconds of the last call, though its events are slow (D53)', async () => {
  const latencyMs = (name: string) => (name === 'sendEvents' ? 150 : 10);
  const world = worldOf({ random: () => 0.5, latencyMs });
  const dispatchId = accept(world, 10_000);
  void world.cancel(dispatchId, cancelled(startMs + 5_000), 5_000);
  await world.run(120_000);
  const lastMs = Math.max(...takenIn(world).map(({ atMs }) => atMs));
  expect(toldIn(world, 'message.failed')).toHaveLength(10_000 - takenIn(world).length);
  expect(completedMs(world)).toBeLessThan(lastMs + 5_000);
});

test('a look that takes longer than the lease does not end it', async () => {
  const world = worldOf({ latencyMs: (name) => (name === 'lookAtBacklog' ? 14_000 : 2) });
  accept(world, 6_000);
  await world.run(100_000);
  // The run sees its backlog before its lease, and once more before it sends.
  expect(takenIn(world).length).toBeGreaterThan(72 * (100 - 2 * 28 - 5));
});

test('nothing is claimed once the lease is over, however long its recipients were read', async () => {
  const world: PipelineWorld = worldOf({
    latencyMs: (name) => (name === 'findPage' ? 15_000 : 2),
    faultOf: (name) => (name === 'changeLease' && between(world, 1_000, 35_000) ? 'fails' : undefined),
  });
  accept(world, 40);
  await world.run(600_000);
  // The first run reads until 30 s, and its lease is over at 25 s. The second begins at 36 s.
  expect(Math.min(...takenIn(world).map(({ atMs }) => atMs))).toBeGreaterThan(startMs + 60_000);
  expect(takenIn(world)).toHaveLength(40);
});

/** Accepts a dispatch that opens then. */
function schedule(world: PipelineWorld, size: number, fromMs = startMs + 6 * 3_600_000): string {
  const dispatchId = '01JQ0000000000000000000000';
  const lots = [{ until: size, open: [[fromMs, fromMs + 3_600_000] as const] }];
  world.accept(scheduledDispatch(size, lots, { dispatchId, acceptedAtMs: world.time.nowMs }));
  return dispatchId;
}

test.each([
  ['whose wake is lost ends with the next sweep', 0.1, () => 3, 66_000],
  ['that is stopped long after it was announced ends at once', 0.5, slowStop, 17_000],
] as const)('a scheduled dispatch %s (D53)', async (_, chance, latencyMs, withinMs) => {
  const world = worldOf({ random: () => chance, latencyMs });
  // A sender that works for another dispatch reads the announcement at once.
  accept(world, 2_000, { clientId: 9 });
  const dispatchId = schedule(world, 40);
  void world.cancel(dispatchId, cancelled(startMs + 1_000), 1_000);
  await world.run(600_000);
  expect(completedMs(world)).toBeLessThan(startMs + withinMs);
  expect(toldIn(world, 'message.failed')).toHaveLength(40);
});

function slowStop(name: string): number {
  return name === 'stop' ? 6_000 : 3;
}

test('an announcement without a stop costs a scheduled dispatch nothing (D53, D56)', async () => {
  const world = worldOf({ random: () => 0.9 });
  const fromMs = startMs + 3_600_000;
  const dispatchId = schedule(world, 40, fromMs);
  // Each try dies before its stop.
  void world.cancel(dispatchId, cancelled(startMs + 1_000), 1_000);
  void world.time.sleep(5_000).then(() => world.dispatches.delete(dispatchId));
  // A sender that works for another dispatch reads the announcement at once.
  accept(world, 40, { clientId: 9, wabaId: '7' });
  let wakesUntilThen = 0;
  void world.time.sleep(180_000).then(() => {
    wakesUntilThen = world.meter.calls.get('wakeSenders') ?? 0;
  });
  await world.run(2 * 3_600_000);
  const times = takenIn(world).flatMap(({ messageId, atMs }) => (messageId.startsWith(dispatchId) ? [atMs] : []));
  expect([times.length, Math.min(...times) >= fromMs, Math.min(...times) < fromMs + 2_100]).toEqual([40, true, true]);
  // One run looks for the stop, until the announcement is a minute old.
  expect(wakesUntilThen).toBeLessThan(20);
});

test('a wake of the other parts that is lost is sent again (D53)', async () => {
  const world: PipelineWorld = worldOf({
    limitPerSecond: 1_000,
    random: () => 0.5,
    answerMs: () => 25_000,
    faultOf: (name) => (name === 'wakeSenders' && between(world, 10_000, 12_000) ? 'fails' : undefined),
  });
  const ids = Array.from({ length: 100 }, (_, at) => `01JP${String(at).padStart(22, '0')}`);
  const dispatchId = ids.find((id) => isOfPart({ part: 0, of: 8 }, id, 0)) ?? '';
  // The first part waits for the answers of these ten.
  const when = { asked: {}, fromMs: startMs };
  world.accept(makeDispatch(makeRecipients(10), { dispatchId, acceptedAtMs: startMs, when }));
  const later = schedule(world, 240);
  void world.cancel(later, cancelled(startMs + 10_000), 10_000);
  await world.run(60_000);
  expect(completedMs(world)).toBeLessThan(startMs + 17_000);
});
