import { describe, expect, test } from 'vitest';
import type { ChunkSlice, QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import { trustedUntilMs } from '../../../../lib/messages/pace/schedule.ts';
import { type Slot, withPosition } from '../../../../lib/messages/send/chunk-time.ts';
import { placeChunks } from '../../../../lib/messages/send/place-chunks.ts';
import { ChunkRunWorld, chunkOf, recipientsFrom, slicesOf, startMs } from './chunk-run-world.ts';
import { firsts, inSlots, lateOthers, slotAt, timesOf } from './placed-chunks.ts';

describe('slots that are to come', () => {
  test('now: one read, no write, each slice by its first slot', async () => {
    const world = new ChunkRunWorld();
    const pauses: number[] = [];
    const pause = async (ms: number) => {
      pauses.push(ms);
      await world.time.sleep(ms);
    };
    const [placed] = await world.place([await inSlots(world, 30)], { pause });
    expect(placed).toMatchObject({
      kind: 'run',
      leaves: [0, 10, 20].map((at) => ({ firstMs: startMs + slotAt(at) })),
    });
    expect(placed).not.toHaveProperty('rest');
    expect(timesOf(world, placed)).toEqual(Object.fromEntries(Array.from({ length: 30 }, (_, at) => [at, slotAt(at)])));
    await world.wait(5_000);
    expect([world.calls, pauses]).toEqual([['look'], []]);
  });

  test.each([
    [35, 1],
    [36, 2],
  ])('behind %i others, of which those in half a second may be moved: so many looks: %i', async (after, looks) => {
    const world = new ChunkRunWorld();
    await world.place([await inSlots(world, 1, after)]);
    expect(world.count('look')).toBe(looks);
  });

  test.each([
    ['2.1 s away, and waits here', 72 * 2.1, false, 'run'],
    ['further, and waits in its queue', 72 * 2.1 + 1, false, 'later'],
    ['0.4 s away with the workers of small requests', Math.floor(72 * 0.4), true, 'run'],
    ['further with the workers of small requests, and waits in its queue', Math.floor(72 * 0.4) + 1, true, 'later'],
  ])('the first is %s', async (_, after, isOfSmallRequests, kind) => {
    const world = new ChunkRunWorld();
    const [placed] = await world.place([await inSlots(world, 1, Math.floor(after))], { isOfSmallRequests });
    expect(placed?.kind).toBe(kind);
  });

  test.each([
    [60, 58],
    [3_600, 900],
  ])(
    '%i s away: back to the queue as it is, to come 1.1 s before the first, after %i s',
    async (seconds, delaySeconds) => {
      const world = new ChunkRunWorld();
      const chunk = await inSlots(world, 30, 72 * seconds);
      expect(await world.place([chunk])).toEqual([{ kind: 'later', chunk, delaySeconds }]);
      expect(world.calls).toEqual(['look']);
    },
  );

  test('moved apart: what lies within 1.5 s of the first leaves, the rest goes back as one chunk with its positions', async () => {
    const world = new ChunkRunWorld();
    const first = await world.reserved(72 * 10);
    const at = (slice: number, slot: number): ChunkSlice => ({
      ...(slicesOf(40)[slice] as ChunkSlice),
      position: first + slot,
    });
    const slices = [at(0, 0), at(3, 72 * 6), at(1, 108), at(2, 110)];
    const [placed] = await world.place([chunkOf(slices, { missedSlots: 1 })]);
    if (placed?.kind !== 'run') throw new Error('nothing leaves');
    expect(firsts(placed)).toEqual([0, 10]);
    const rest = chunkOf([at(2, 110), at(3, 72 * 6)], { missedSlots: 1 });
    expect(placed.rest).toEqual({ chunk: rest, delaySeconds: 0 });
  });

  test('what others may still move is read again once it can be trusted, and taken where it is then', async () => {
    const world = new ChunkRunWorld();
    const chunk = await inSlots(world, 10, 72 * 2);
    const placing = world.place([chunk]);
    await world.reserved(72 * 3, { clientId: 1_002, lane: 'dispatch-2' });
    const [placed] = await placing;
    expect(placed?.kind).toBe('run');
    const [time = 0] = Object.values(timesOf(world, placed));
    expect(time).toBeGreaterThan(2_000);
    expect(world.count('look')).toBeGreaterThan(1);
    expect(world.count('changePace')).toBe(0);
    expect(startMs + time).toBeLessThan(trustedUntilMs(world.nowMs));
    expect(startMs + time - world.nowMs).toBeLessThanOrEqual(700);
  });
});

describe('slots that have passed', () => {
  test.each([
    ['not by more than 50 ms: kept', 50, 0],
    ['by more: given again', 51, 1],
  ])('%s', async (_, afterMs, writes) => {
    const world = new ChunkRunWorld();
    const chunk = await inSlots(world, 1);
    await world.wait(afterMs);
    const [placed] = await world.place([chunk]);
    expect([placed?.kind, world.count('changePace')]).toEqual(['run', writes]);
  });

  test('one write for all of them, in the late lane in front of the dispatch that still waits', async () => {
    const world = new ChunkRunWorld();
    const first = await world.reserved(72 * 60);
    await world.wait(2_000);
    const [placed] = await world.place([chunkOf(slicesOf(30, first))]);
    if (placed?.kind !== 'run') throw new Error('nothing leaves');
    expect([...placed.slots.values()]).toEqual(
      Array.from({ length: 30 }, (_, at) => ({ clientId: 1_001, lane: 'dispatch-1~', position: 72 * 60 + at })),
    );
    expect(placed.leaves.map(({ firstMs }) => firstMs - world.nowMs)).toSatisfy((all: number[]) =>
      all.every((ms) => ms < 1_100),
    );
    expect(world.count('changePace')).toBe(1);
  });

  test('of some slices alone: the others keep theirs', async () => {
    const world = new ChunkRunWorld();
    const first = await world.reserved(72 * 60);
    await world.wait(2_000);
    const kept = { ...(slicesOf(20)[1] as ChunkSlice), position: first + 72 * 2 };
    const [placed] = await world.place([chunkOf([...slicesOf(10, first), kept])]);
    if (placed?.kind !== 'run') throw new Error('nothing leaves');
    expect([0, 10].map((index) => placed.slots.get(index))).toMatchObject([
      { lane: 'dispatch-1~' },
      { lane: 'dispatch-1', position: kept.position },
    ]);
  });

  test('given again and far: back with their positions in the late lane, which the next look finds', async () => {
    const world = new ChunkRunWorld();
    const first = await world.reserved(72 * 60);
    await world.wait(2_000);
    await lateOthers(world);
    const [placed] = await world.place([chunkOf(slicesOf(10, first), { dispatchId: 'K', lane: 'dispatch-2' })]);
    if (placed?.kind !== 'later') throw new Error('it leaves now');
    expect(placed.chunk.slices).toMatchObject([{ isLate: true, position: expect.any(Number) }]);
    await world.wait(placed.delaySeconds * 1_000);
    const writes = world.count('changePace');
    expect(await world.place([placed.chunk])).toMatchObject([{ kind: 'run' }]);
    expect(world.count('changePace')).toBe(writes);
  });

  test('slots that a slow write misses are asked for again, further ahead each time; one that is always too slow ends it', async () => {
    const world = new ChunkRunWorld();
    const slow = (ms: number) => {
      const ports = world.ports();
      return {
        paces: {
          ...ports.paces,
          change: (async (...args) => {
            const changed = await ports.paces.change(...args);
            await world.time.sleep(ms);
            return changed;
          }) as typeof ports.paces.change,
        },
      };
    };
    expect(await world.place([chunkOf(slicesOf(1))], slow(300))).toMatchObject([{ kind: 'run' }]);
    expect(world.count('changePace')).toBe(3);
    expect(await world.place([chunkOf(slicesOf(1), { dispatchId: 'K' })], slow(3_000))).toEqual([{ kind: 'unplaced' }]);
    expect(world.count('look')).toBe(3 + 10);
  });
});

test('a slice goes back with its slots where they are in a row of a lane that it can name', () => {
  const turns = (positions: readonly number[], lane = 'dispatch-1') =>
    positions.map((position) => ({ clientId: 1_001, lane, position }));
  const positionOf = (slots: readonly (Slot | undefined)[], changes: Partial<QueuedChunk> = {}) => {
    const known = new Map(slots.flatMap((slot, index) => (slot === undefined ? [] : [[index, slot] as const])));
    const slice: ChunkSlice = { try: 1, size: 3, position: 9, isLate: true, recipients: recipientsFrom(0, 3) };
    const { recipients: _all, size: _same, ...rest } = withPosition(slice, known, chunkOf([slice], changes));
    return rest;
  };
  const [none, early] = [{ try: 1 }, { atMs: startMs }];
  const table: readonly [readonly (Slot | undefined)[], object][] = [
    [turns([5, 6, 7]), { try: 1, position: 5 }],
    [turns([5, 6, 7], 'dispatch-1~'), { try: 1, position: 5, isLate: true }],
    [turns([5, 6, 8]), none],
    [[...turns([5, 6]), undefined], none],
    [[undefined, ...turns([6, 7])], none],
    [[...turns([5, 6]), ...turns([7], 'dispatch-1~')], none],
    [[...turns([5, 6]), early], none],
    [[early, ...turns([6, 7])], none],
    [[early, early, early], none],
    [[], none],
  ];
  for (const [slots, expected] of table) expect(positionOf(slots)).toEqual(expected);
  expect(positionOf(turns([5, 6, 7], '!'), { urgent: true })).toEqual({ try: 1, position: 5, isLate: true });
});

describe('several chunks of one number', () => {
  test('share a look and a write; those of a client that are small share its lane, behind one another', async () => {
    const world = new ChunkRunWorld();
    const small = { straight: true, lane: '*' } as const;
    const chunks = [
      chunkOf(slicesOf(2), { ...small, dispatchId: 'A' }),
      chunkOf(slicesOf(3), { ...small, dispatchId: 'B' }),
      chunkOf(slicesOf(1), { ...small, dispatchId: 'C', clientId: 1_002 }),
      chunkOf(slicesOf(1), { dispatchId: 'D' }),
    ];
    const placed = await world.place(chunks);
    expect(world.calls).toEqual(['look', 'changePace']);
    expect(
      placed.map((each) =>
        each.kind === 'run' ? [...each.slots.values()].map((slot) => 'lane' in slot && slot.lane) : [],
      ),
    ).toEqual([['*', '*'], ['*', '*', '*'], ['*'], ['dispatch-1~']]);
    const times = placed.flatMap((each) => Object.values(timesOf(world, each)));
    expect(times.toSorted((one = 0, other = 0) => one - other)).toEqual(
      Array.from({ length: 7 }, (_, at) => slotAt(at)),
    );
  });

  test('take slots as their lowest limit and their most missed slots say', async () => {
    const world = new ChunkRunWorld();
    const chunks = [
      chunkOf(slicesOf(1), { limitPerSecond: 40, missedSlots: 1 }),
      chunkOf(slicesOf(1), { dispatchId: 'K', lane: 'dispatch-2' }),
    ];
    const placed = await world.place(chunks);
    expect(placed.map((each) => timesOf(world, each)[0])).toEqual([200, Math.floor(200 + 1_000 / 36)]);
  });

  test('do not wait for one another, nor for those of another number', async () => {
    const world = new ChunkRunWorld();
    const far = await inSlots(world, 1, 72 * 2);
    const near = chunkOf(slicesOf(1, 0), { dispatchId: 'K' });
    const between = chunkOf(slicesOf(1, 72), { dispatchId: 'M' });
    const other = chunkOf(slicesOf(1), { dispatchId: 'L', phoneNumberId: 'another' });
    const placedAtMs: number[] = [];
    const places = placeChunks([far, near, other, between], world.placing());
    await world.pass(
      Promise.all(places.map(async (place) => await place.then(() => placedAtMs.push(world.nowMs - startMs)))),
    );
    expect(placedAtMs.slice(0, 2)).toEqual([0, 0]);
    expect(placedAtMs[2]).toBeLessThan(1_000);
    expect(placedAtMs[3]).toBeGreaterThan(1_000);
  });

  test('when the number cannot be read, or no slot be reserved: unplaced, and those that need none are not', async () => {
    for (const broken of ['look', 'changePace']) {
      const world = new ChunkRunWorld();
      world.faultOf = (name) => (name === broken ? 'fails' : undefined);
      const late = chunkOf(slicesOf(1), { dispatchId: 'K', expiresAtMs: startMs });
      const kinds = (await world.place([chunkOf(slicesOf(1)), late])).map(({ kind }) => kind);
      expect(kinds).toEqual(['unplaced', broken === 'look' ? 'unplaced' : 'run']);
      expect(world.facts('send.pace_failed')).toMatchObject([{ error: 'Error' }]);
    }
  });
});

describe('one-time codes (D44)', () => {
  const code = { urgent: true, straight: true, lane: '*' } as const;

  test('leave at once on an idle number, and in its last tenth on a busy one, without another look', async () => {
    const world = new ChunkRunWorld();
    const [idle] = await world.place([chunkOf(slicesOf(1), code)]);
    expect(timesOf(world, idle)).toEqual({ 0: 0 });
    expect(world.calls).toEqual(['findPace', 'changePace']);
    await world.reserved(72 * 600);
    const before = world.count('findPace');
    const [busy, of] = await world.place([
      chunkOf(slicesOf(3), { ...code, dispatchId: 'K' }),
      chunkOf(slicesOf(1), { ...code, dispatchId: 'L', clientId: 1_002 }),
    ]);
    expect(timesOf(world, of)).toEqual({ 0: 0 });
    expect(timesOf(world, busy)).toEqual({ 0: 125, 1: 250, 2: 375 });
    expect(world.count('findPace') - before).toBe(1);
  });

  test('whose slots of the tenth are further ahead than the schedule is trusted are not looked at again', async () => {
    const world = new ChunkRunWorld();
    await world.reserved(72 * 600);
    const later = { try: 1, size: 7, recipients: recipientsFrom(3, 4) };
    const placed = await world.place([
      ...[2, 3].map((size) => chunkOf(slicesOf(size), { ...code, dispatchId: `J${size}` })),
      chunkOf([later], { ...code, dispatchId: 'K', clientId: 1_002 }),
    ]);
    expect(timesOf(world, placed[2])).toEqual({ 3: 625, 4: 750, 5: 875, 6: 1_000 });
    expect([world.count('look'), world.nowMs]).toEqual([1, startMs]);
  });

  test('of one request are all in the tenth or all in one lane, the smallest requests of a client in the tenth', async () => {
    const world = new ChunkRunWorld();
    await world.reserved(72 * 600);
    const placed = await world.place(
      [10, 4, 5, 1].map((size, at) => chunkOf(slicesOf(size), { ...code, dispatchId: `J${at}` })),
    );
    const ways = placed.map((each) =>
      each.kind === 'run' ? new Set([...each.slots.values()].map((slot) => 'atMs' in slot)) : undefined,
    );
    expect(ways).toEqual([[false], [true], [false], [true]].map((way) => new Set(way)));
    expect(timesOf(world, placed[3])).toEqual({ 0: 0 });
    // The lane's five and ten slots have no gap.
    const lane = [placed[2], placed[0]].flatMap((each) => Object.values(timesOf(world, each)));
    expect(lane.map((ms = 0) => ms - (lane[0] ?? 0))).toEqual(lane.map((_, at) => slotAt(90 + at) - slotAt(90)));
  });

  test('that must wait in the schedule keep their places there when they go back', async () => {
    const world = new ChunkRunWorld();
    await world.reserved(72 * 600);
    const chunks = Array.from({ length: 40 }, (_, at) => chunkOf(slicesOf(10), { ...code, dispatchId: `J${at}` }));
    const placed = await world.place(chunks);
    const far = placed.filter((each) => each.kind === 'later').at(-1);
    if (far?.kind !== 'later') throw new Error('all of them leave now');
    await world.wait(far.delaySeconds * 1_000);
    const writes = world.count('changePace');
    expect((await world.place([far.chunk], { isOfSmallRequests: true }))[0]?.kind).toBe('run');
    expect(world.count('changePace')).toBe(writes);
  });
});
