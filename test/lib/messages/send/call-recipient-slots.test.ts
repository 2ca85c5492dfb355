import { describe, expect, test } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import type { NumberPace } from '../../../../lib/messages/pace/number-pace.ts';
import { atPace } from '../../../../lib/messages/pace/schedule.ts';
import {
  ChunkRunWorld,
  chunkOf,
  chunkOfOne,
  everyMs,
  failingWith,
  phoneNumberId,
  slicesOf,
  startMs,
} from './chunk-run-world.ts';

describe('a slot (D43)', () => {
  /** The chunk's first slot is 1,486 ms ahead. */
  const ahead = async (world: ChunkRunWorld, count: number, changes: Partial<QueuedChunk> = {}) =>
    chunkOf(slicesOf(count, (await world.reserved(107 + count)) + 107), changes);

  test('each is called in its millisecond, of slices that are claimed 50 ms before their first', async () => {
    const world = new ChunkRunWorld();
    expect(await world.work([await ahead(world, 30)])).toEqual([]);
    const slots = Array.from({ length: 30 }, (_, at) => Math.floor(startMs + (107 + at) * everyMs));
    expect(world.posted).toEqual(slots.map((atMs, index) => ({ index, atMs })));
    const claimed = [0, 1, 2].map((slice) => world.table.find({ dispatchId: 'J', slice })?.atMs);
    expect(claimed).toEqual([0, 10, 20].map((at) => (slots[at] ?? 0) - 50));
  });

  test.each([
    [1, 200],
    [2, 600],
    [9, 600],
  ])('after %i missed ones the slice is claimed %i ms before', async (missedSlots, leadMs) => {
    const world = new ChunkRunWorld();
    await world.work([await ahead(world, 1, { missedSlots })]);
    expect(world.table.find({ dispatchId: 'J', slice: 0 })?.atMs).toBe(startMs + 1_486 - leadMs);
  });

  test.each([
    [75, 1],
    [76, 0],
  ])('that has passed by %i ms is good for so many calls: %i', async (ms, calls) => {
    const world = new ChunkRunWorld();
    const ready = async () => await world.time.sleep(ms);
    expect(await world.work([chunkOfOne()], { ready })).toEqual([]);
    expect(world.posted).toHaveLength(calls);
    const missed = { slices: [{ try: 1 }], missedSlots: 1 };
    expect(world.requeued).toMatchObject(calls === 1 ? [] : [{ chunk: missed, delaySeconds: 0 }]);
    expect(JSON.stringify(world.requeued)).not.toContain('position');
    expect(world.facts('send.batch')).toMatchObject([{ tally: calls === 1 ? { sent: 1 } : { slot_missed: 1 } }]);
  });

  test('missed again and again is counted, and forgotten once none is', async () => {
    const world = new ChunkRunWorld();
    const late = { ready: async () => await world.time.sleep(1_000) };
    await world.work([chunkOfOne({}, { missedSlots: 2 })], late);
    expect(world.requeued[0]?.chunk.missedSlots).toBe(3);
    world.send = failingWith('not_sent');
    await world.work([chunkOfOne({}, { dispatchId: 'K', missedSlots: 2, storeFailures: 3 })]);
    expect(world.requeued[1]?.chunk).not.toHaveProperty('missedSlots');
    expect(world.requeued[1]?.chunk).not.toHaveProperty('storeFailures');
  });

  describe('of a slow number, that others move after the claim', () => {
    const slow = { limitPerSecond: 2 };

    const slotMs = (position: number) => Math.floor(position * 555.5556);
    const slots = Array.from({ length: 10 }, (_, at) => slotMs(25 + at) - slotMs(25));

    /**
     * The last five of ten recipients are in another turn: slots are 556 ms apart, and those of that turn soon
     * `apartMs`.
     */
    async function moved(world: ChunkRunWorld, apartMs: number) {
      const first = (await world.reserved(40, slow)) + 25;
      const firstMs = slotMs(25);
      await world.wait(firstMs - 1_500);
      const move = (pace: NumberPace) => ({
        pace: { ...pace, schedule: atPace(pace.schedule, apartMs, world.nowMs) },
        result: undefined,
      });
      void world.time.sleep(2_000).then(() => world.paces.change(phoneNumberId, undefined, move));
      await world.work([chunkOf(slicesOf(10, first), slow)]);
      return world.posted.map(({ atMs }) => atMs - startMs - firstMs);
    }

    test('is read again, and met where it is then', async () => {
      const called = await moved(new ChunkRunWorld(), 900);
      const stay = called.findIndex((ms, at) => ms !== slots[at]);
      expect(stay).toBeGreaterThan(2);
      const last = slots[stay - 1] ?? 0;
      expect(called.slice(stay)).toEqual(Array.from({ length: 10 - stay }, (_, at) => last + (at + 1) * 900));
    });

    test('far away, leaves the recipients to their next try', async () => {
      const world = new ChunkRunWorld();
      const called = await moved(world, 20_000);
      expect(called).toEqual(slots.slice(0, called.length));
      expect(called.length).toBeGreaterThan(2);
      expect(called.length).toBeLessThan(10);
      expect(world.requeued).toMatchObject([{ chunk: { slices: [{ try: 1 }] } }]);
      expect(world.requeued[0]?.chunk.slices[0]?.recipients).toHaveLength(10 - called.length);
      expect(world.requeued[0]?.delaySeconds).toBeGreaterThan(10);
      expect(world.requeued[0]?.chunk).not.toHaveProperty('missedSlots');
    });

    test('is in one run with the others of its slice, on the slowest number too', async () => {
      const world = new ChunkRunWorld();
      const slowest = { limitPerSecond: 1 };
      await world.work([chunkOf(slicesOf(10, await world.reserved(10, slowest)), slowest)]);
      const times = world.posted.map(({ atMs }) => atMs - startMs);
      expect(times).toEqual(Array.from({ length: 10 }, (_, at) => Math.floor(at * 1_111.1112)));
      expect(world.requeued).toEqual([]);
    });

    test('when it cannot be read again, the recipients are not called', async () => {
      const world = new ChunkRunWorld();
      world.faultOf = (name) => (name === 'look' && world.nowMs > startMs ? 'fails' : undefined);
      await world.work([chunkOf(slicesOf(10, await world.reserved(10, slow)), slow)]);
      expect(world.posted).toHaveLength(1);
      expect(world.requeued[0]?.chunk.slices[0]?.recipients).toHaveLength(9);
      expect(world.facts('send.batch')[0]?.tally).toHaveProperty('dispatch_not_read_Error');
    });

    test('is read once for those who ask meanwhile', async () => {
      const world = new ChunkRunWorld();
      world.latencyOf = (name) => (name === 'look' && world.nowMs > startMs ? 250 : 0);
      const ten = { limitPerSecond: 10 };
      await world.work([chunkOf(slicesOf(10, await world.reserved(10, ten)), ten)]);
      expect([world.posted.length, world.count('look')]).toEqual([10, 5]);
    });

    test('beyond the time of the run, leaves it to its next try', async () => {
      const world = new ChunkRunWorld();
      const chunk = chunkOf(slicesOf(10, await world.reserved(10, slow)), slow);
      await world.work([chunk], { remainingMs: () => 15_000 - (world.nowMs - startMs) });
      // A call and its writes need 13 s.
      expect(world.posted.at(-1)?.atMs).toBeLessThanOrEqual(startMs + 2_000);
      expect(world.posted.length).toBeGreaterThan(1);
      expect(world.requeued[0]?.chunk.slices[0]?.recipients).toHaveLength(10 - world.posted.length);
    });

    test('stopped or expired while it waits, it is not called', async () => {
      const stopped = new ChunkRunWorld();
      const chunk = async (world: ChunkRunWorld, changes: Partial<QueuedChunk> = {}) =>
        chunkOf(slicesOf(10, await world.reserved(10, slow)), { ...slow, ...changes });
      const working = stopped.work([await chunk(stopped)]);
      void stopped.time.sleep(1_000).then(() => stopped.states.set('J', { stop: cancelled(startMs) }));
      await working;
      const called = stopped.posted.length;
      expect(called).toBeLessThan(5);
      expect(stopped.outcomes(10)).toEqual([...Array(called).fill('sent'), ...Array(10 - called).fill('failed')]);

      const expiring = new ChunkRunWorld();
      await expiring.work([await chunk(expiring, { expiresAtMs: startMs + 1_200 })]);
      expect(expiring.outcomes(10)).toEqual([...Array(3).fill('sent'), ...Array(7).fill('expired')]);
    });
  });
});

test.each([60, 200, 900])(
  'workers that start cold, with a secret that takes %i ms, keep an idle number to its limit',
  async (secretMs) => {
    const world = new ChunkRunWorld();
    const position = await world.reserved(300);
    const ready = async () => await world.time.sleep(startMs + secretMs - world.nowMs);
    const chunks = Array.from({ length: 10 }, (_, at) =>
      chunkOf(slicesOf(30, position + at * 30), { dispatchId: `J${at}` }),
    );
    await world.work(chunks, { ready });
    for (let next = world.requeued.shift(); next !== undefined; next = world.requeued.shift()) {
      await world.wait(next.delaySeconds * 1_000);
      await world.work([next.chunk], { ready });
    }
    const times = world.posted.map(({ atMs }) => atMs);
    expect(times).toHaveLength(300);
    const inSecond = times.map((fromMs) => times.filter((atMs) => atMs >= fromMs && atMs < fromMs + 1_000).length);
    expect(Math.max(...inSecond)).toBeLessThanOrEqual(80);
  },
);

test('a slot in the last tenth of a number never moves, and is not read again (D44)', async () => {
  const world = new ChunkRunWorld();
  await world.reserved(72 * 600);
  await world.work([chunkOf(slicesOf(9), { urgent: true, straight: true, lane: '*' })]);
  expect(world.posted.map(({ atMs }) => atMs - startMs)).toEqual(Array.from({ length: 9 }, (_, at) => at * 125));
  expect([world.count('findPace'), world.count('look')]).toEqual([1, 0]);
});
