import { describe, expect, test } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import { type Lot, lastSlotBeforeEndMs, type Opening } from '../../../../lib/messages/dispatch/lots.ts';
import { ChunkRunWorld, chunkOf, slicesOf, startMs } from './chunk-run-world.ts';

/** Closed lots wait, and no recipient is called outside an opening (D56, R54). */

const hourMs = 3_600_000;
const dayMs = 86_400_000;
const openAt = (fromMs: number, untilMs: number): Opening => [startMs + fromMs, startMs + untilMs];
const lotOf = (until: number, ...open: Opening[]): Lot => ({ until, open });
const tomorrow = openAt(dayMs, dayMs + hourMs);
const expired = { state: 'expired', code: 'expired' };
const again = (dueMs: number) => ({ state: 'again', dueMs });

/** Makes a chunk of these lots, with its first slot now. */
async function released(world: ChunkRunWorld, count: number, lots: Lot[], changes: Partial<QueuedChunk> = {}) {
  return chunkOf(slicesOf(count, await world.reserved(count)), { lots, ...changes });
}

describe('what is closed', () => {
  test.each([
    ['until tomorrow', tomorrow, 900],
    ['for a minute', openAt(60_000, hourMs), 59],
  ])('%s goes back to its queue for one look, without a claim or a slot', async (_, opening, delaySeconds) => {
    const world = new ChunkRunWorld();
    const chunk = chunkOf(slicesOf(30), { lots: [lotOf(30, openAt(-hourMs, 0), opening)] });
    expect(await world.work([chunk])).toEqual([]);
    expect(world.requeued).toEqual([{ chunk, delaySeconds }]);
    expect(world.calls).toEqual(['look', 'sendLater']);
  });

  test('meets no hold: its dispatch is not parked for it, and no message probes', async () => {
    const world = new ChunkRunWorld();
    world.hold(undefined, undefined, startMs - hourMs);
    await world.work([chunkOf(slicesOf(10), { lots: [lotOf(10, tomorrow)] })]);
    expect([world.states.get('J')?.parked, world.calls]).toEqual([undefined, ['look', 'sendLater']]);
  });

  test('waits for its opening while the platform is down, and its dispatch is not parked', async () => {
    const world = new ChunkRunWorld();
    world.breaker.stored = {
      ...world.breaker.stored,
      open: { sinceMs: startMs - hourMs, probeAtMs: startMs + hourMs, failedProbes: 1 },
    };
    await world.work([chunkOf(slicesOf(10), { lots: [lotOf(10, tomorrow)] })]);
    expect(world.requeued).toMatchObject([{ delaySeconds: 900 }]);
    expect([world.states.get('J')?.parked, world.calls]).toEqual([undefined, ['sendLater']]);
  });

  test('waits without address and message of a person that the operator has erased (D60), who ends so when it opens', async () => {
    const world = new ChunkRunWorld();
    world.states.set('J', { erased: new Set([3]) });
    await world.work([chunkOf(slicesOf(10), { lots: [lotOf(10, openAt(hourMs, 2 * hourMs))] })]);
    const [waiting] = world.requeued.splice(0);
    if (waiting === undefined) throw new Error('it waits');
    const recipients = waiting.chunk.slices.flatMap((slice) => slice.recipients);
    expect(recipients.filter(({ to, request }) => to === undefined || request === undefined)).toEqual([{ index: 3 }]);
    await world.workAll(waiting.chunk);
    expect([world.posted.length, world.outcome(3)]).toEqual([9, { state: 'failed', code: 'erased' }]);
  });

  test('leaves when it opens, each in a slot', async () => {
    const world = new ChunkRunWorld();
    await world.workAll(chunkOf(slicesOf(30), { lots: [lotOf(30, openAt(hourMs, 2 * hourMs))] }));
    expect(new Set(world.posted.map(({ index }) => index)).size).toBe(30);
    expect(world.posted).toHaveLength(30);
    expect(Math.min(...world.posted.map(({ atMs }) => atMs))).toBeGreaterThanOrEqual(startMs + hourMs);
    expect(Math.max(...world.posted.map(({ atMs }) => atMs))).toBeLessThan(startMs + hourMs + 3_000);
    expect([world.count('claimSlice'), world.count('changePace')]).toEqual([3, 1]);
  });

  test('ends as its dispatch is stopped', async () => {
    const world = new ChunkRunWorld();
    world.states.set('J', { stop: { state: 'failed', code: 'cancelled', atMs: startMs } });
    await world.work([chunkOf(slicesOf(10), { lots: [lotOf(10, tomorrow)] })]);
    expect(world.outcome(0)).toEqual({ state: 'failed', code: 'cancelled' });
  });
});

test('what closes while it leaves goes on at the next opening; no slot is in its last five seconds', async () => {
  const world = new ChunkRunWorld();
  const closesMs = 280 + lastSlotBeforeEndMs;
  const lots = [lotOf(30, openAt(-hourMs, closesMs), openAt(hourMs, 2 * hourMs))];
  await world.workAll(await released(world, 30, lots));
  const times = world.posted.map(({ atMs }) => atMs - startMs).sort((one, other) => one - other);
  expect(times.filter((ms) => ms < 280)).toHaveLength(21);
  expect(times.filter((ms) => ms >= hourMs)).toHaveLength(9);
  expect(times).toHaveLength(30);
});

test('what reserves in the last moments takes no slot of the last five seconds either', async () => {
  const world = new ChunkRunWorld();
  const lots = [lotOf(30, openAt(-hourMs, 300 + lastSlotBeforeEndMs), openAt(hourMs, 2 * hourMs))];
  await world.workAll(chunkOf(slicesOf(30), { lots }));
  const times = world.posted.map(({ atMs }) => atMs - startMs);
  expect(times.filter((ms) => ms > 300 && ms < hourMs)).toEqual([]);
  expect(times.filter((ms) => ms <= 300).length).toBeGreaterThan(10);
  expect(times).toHaveLength(30);
});

test('a call that would begin behind the end is none: the question of a hold may leave after its slot', async () => {
  const world = new ChunkRunWorld();
  world.hold(undefined, undefined, startMs - hourMs);
  const lots = [lotOf(10, openAt(-hourMs, 6_000), tomorrow)];
  const ready = async () => await world.time.sleep(6_000);
  await world.work([await released(world, 1, lots)], { ready });
  expect(world.posted).toEqual([]);
  expect(world.outcome(0)).toEqual(again(startMs + dayMs));
});

describe('what opens no more', () => {
  test.each([
    ['at all', [], {}],
    ['after its last opening', [openAt(-hourMs, 0)], {}],
    ['within its time to live', [tomorrow], { expiresAtMs: startMs + dayMs }],
  ])('%s ends expired, uncalled', async (_, open, changes) => {
    const world = new ChunkRunWorld();
    expect(await world.work([await released(world, 10, [lotOf(10, ...open)], changes)])).toEqual([]);
    expect([world.posted, world.requeued]).toEqual([[], []]);
    expect(world.outcome(9)).toEqual(expired);
    expect(world.events.sent.map(({ type }) => type)).toEqual(Array(10).fill('message.expired'));
  });

  test('in the last five seconds of it waits for the end where it has no slot, and takes none', async () => {
    const world = new ChunkRunWorld();
    const chunk = chunkOf(slicesOf(10), { lots: [lotOf(10, openAt(-hourMs, 4_000))] });
    await world.workAll(chunk);
    expect([world.posted, world.count('changePace')]).toEqual([[], 0]);
    expect(world.outcome(0)).toEqual(expired);
  });
});

test('a slice in two lots: each recipient goes by its own', async () => {
  const world = new ChunkRunWorld();
  const lots = [lotOf(3), lotOf(6, tomorrow), lotOf(10, openAt(-hourMs, hourMs))];
  await world.work([await released(world, 10, lots)]);
  expect(world.posted.map(({ index }) => index)).toEqual([6, 7, 8, 9]);
  expect([0, 3, 9].map((index) => world.outcome(index))).toEqual([
    expired,
    again(startMs + dayMs),
    { state: 'sent', platformMessageId: 'platform-9' },
  ]);
  expect(world.requeued).toMatchObject([{ delaySeconds: 900, chunk: { slices: [{ try: 1 }] } }]);
  expect(world.requeued[0]?.chunk.slices[0]?.recipients.map(({ index }) => index)).toEqual([3, 4, 5]);
});

test('a delivery of a try that has ended until tomorrow is told and queued at once: no queue hides it so long', async () => {
  const world = new ChunkRunWorld();
  const lots = [lotOf(5, openAt(-hourMs, hourMs)), lotOf(10, tomorrow)];
  const chunk = await released(world, 10, lots);
  await world.work([chunk]);
  const [next] = world.requeued;
  expect(await world.work([chunk])).toEqual([]);
  expect(world.postponed).toEqual([]);
  expect(world.requeued.at(-1)?.chunk.slices).toEqual(next?.chunk.slices);
  expect(world.posted).toHaveLength(5);
});
