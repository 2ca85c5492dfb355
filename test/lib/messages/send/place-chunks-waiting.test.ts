import { describe, expect, test } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled, longestParkMs } from '../../../../lib/messages/dispatch/item-state.ts';
import { recipientHashOf, unknownPace, withBlocked } from '../../../../lib/messages/pace/number-pace.ts';
import {
  ChunkRunWorld,
  chunkOf,
  phoneNumberId,
  recipientAt,
  recipientsFrom,
  slicesOf,
  startMs,
} from './chunk-run-world.ts';
import { firsts, lateOthers, timesOf } from './placed-chunks.ts';

describe('no recipient of a chunk is given a slot, or read again', () => {
  const parked = { code: 'template_paused', scope: 'template', sinceMs: startMs } as const;

  test.each<[string, DispatchItemState, Partial<QueuedChunk>]>([
    ['that is stopped', { stop: cancelled(startMs) }, {}],
    ['that has expired', {}, { expiresAtMs: startMs }],
    ['whose waiting is over', { parked: { ...parked, sinceMs: startMs - longestParkMs } }, {}],
    ['older than claims are remembered', {}, { acceptedAtMs: startMs - 28 * 86_400_000 }],
  ])('%s: its slices end uncalled, in this run', async (_, state, changes) => {
    const world = new ChunkRunWorld();
    world.states.set('J', state);
    if (state.parked !== undefined) world.hold();
    const chunk = chunkOf(slicesOf(20, 1_000), changes);
    const leaves = chunk.slices.map((slice) => ({ slice, firstMs: startMs }));
    expect(await world.place([chunk])).toMatchObject([{ kind: 'run', leaves, slots: new Map() }]);
    expect(world.calls).toEqual(['look']);
  });

  test('a moment before its expiry it is', async () => {
    const world = new ChunkRunWorld();
    const [placed] = await world.place([chunkOf(slicesOf(1), { expiresAtMs: startMs + 1 })]);
    expect(Object.values(timesOf(world, placed))).toEqual([0]);
  });

  test('that waits for its template: it goes back unclaimed', async () => {
    const world = new ChunkRunWorld();
    const dispatch = { parked: { ...parked, sinceMs: startMs - 100_000 } };
    world.states.set('J', dispatch);
    world.hold();
    const chunk = chunkOf(slicesOf(10));
    const reason = { code: 'template_paused', scope: 'template' };
    expect(await world.place([chunk])).toEqual([{ kind: 'held', reason, dispatch, chunk, delaySeconds: 25 }]);
    expect(world.calls).toEqual(['look']);
  });
});

describe('a chunk that is held, when it is time to ask (D46)', () => {
  const asked = async (changes: (world: ChunkRunWorld) => QueuedChunk | Promise<QueuedChunk>) => {
    const world = new ChunkRunWorld();
    world.hold('waba', '131042', startMs - 10_000);
    const chunk = await changes(world);
    const [placed] = await world.place([chunk]);
    return { chunk, placed };
  };

  test('one slice goes on, and the others wait as long as all would', async () => {
    const { chunk, placed } = await asked(() => chunkOf(slicesOf(30)));
    const [first, ...others] = chunk.slices;
    const rest = { chunk: { ...chunk, slices: others }, delaySeconds: 15 };
    expect(placed).toMatchObject({ kind: 'run', leaves: [{ slice: first }], rest });
    expect(placed?.kind === 'run' ? [...placed.slots.keys()] : []).toHaveLength(10);
  });

  test('the one that is due, and none where no recipient is', async () => {
    const undue = { try: 1, size: 1, recipients: [recipientAt(0, { notBeforeMs: startMs + 60_000 })] };
    const due = { try: 0, size: 1, recipients: [recipientAt(10)] };
    const { placed } = await asked(() => chunkOf([undue, due]));
    expect(placed).toMatchObject({ kind: 'run', leaves: [{ slice: due }], rest: { chunk: { slices: [undue] } } });
    expect((await asked(() => chunkOf([undue]))).placed).toMatchObject({ kind: 'held' });
  });

  test('whose slots are far goes back whole', async () => {
    const { chunk, placed } = await asked(async (world) => chunkOf(slicesOf(20, (await world.reserved(1_000)) + 500)));
    expect(placed).toEqual({ kind: 'later', chunk, delaySeconds: 5 });
  });

  test('of two holds, one of which may not be asked, waits', async () => {
    const { placed } = await asked((world) => {
      world.hold('number:300000000000001', '133010');
      return chunkOf(slicesOf(1));
    });
    expect(placed).toMatchObject({ kind: 'held', reason: { code: '131042', scope: 'waba' } });
  });
});

describe('persons who may not be written to yet', () => {
  const later = (ms: number) => ({ notBeforeMs: startMs + ms });

  test.each([
    [1_001, 1],
    [4_000, 3],
    [6_000, 5],
    [6_001, 6],
  ])(
    'are all there is of a chunk: until %i ms have passed it waits for %i s, and is due when it comes',
    async (ms, delaySeconds) => {
      const world = new ChunkRunWorld();
      const slice = { try: 1, size: 10, recipients: [recipientAt(3, later(ms + 5_000)), recipientAt(4, later(ms))] };
      const chunk = chunkOf([slice]);
      expect(await world.place([chunk])).toEqual([{ kind: 'later', chunk, delaySeconds }]);
      expect(world.calls).toEqual(['look']);
    },
  );

  test('get no slot before their time, on an idle number too', async () => {
    const world = new ChunkRunWorld();
    const slice = { try: 1, size: 10, recipients: [recipientAt(3, later(1_000)), recipientAt(4, later(900))] };
    const [placed] = await world.place([chunkOf([slice])]);
    expect(Object.values(timesOf(world, placed)).every((ms = 0) => ms >= 1_000)).toBe(true);
    expect(Object.keys(timesOf(world, placed))).toHaveLength(2);
  });

  test('beside others: a slice of theirs goes back, one that they share leaves without slots for them', async () => {
    const world = new ChunkRunWorld();
    const mixed = { try: 0, size: 3, recipients: [recipientAt(0, later(5_000)), ...recipientsFrom(1, 2)] };
    const theirs = { try: 0, size: 1, recipients: [recipientAt(10, later(9_000))] };
    const [placed] = await world.place([chunkOf([mixed, theirs])]);
    if (placed?.kind !== 'run') throw new Error('nothing leaves');
    expect([firsts(placed), [...placed.slots.keys()]]).toEqual([[0], [1, 2]]);
    expect(placed.rest).toEqual({ chunk: chunkOf([theirs]), delaySeconds: 8 });
  });

  test('because their number had refused them for now (131056)', async () => {
    const world = new ChunkRunWorld();
    const blocked = recipientAt(0);
    const pace = withBlocked(unknownPace, recipientHashOf(blocked.to), startMs + 4_500, startMs);
    world.paces.stored.set(phoneNumberId, pace);
    const waiting = { try: 1, size: 2, recipients: [recipientAt(1, later(9_000))] };
    const [alone, beside, other] = await world.place([
      chunkOf(slicesOf(1)),
      chunkOf(slicesOf(2), { dispatchId: 'K' }),
      chunkOf([waiting], { dispatchId: 'L' }),
    ]);
    expect(other).toEqual({ kind: 'later', chunk: chunkOf([waiting], { dispatchId: 'L' }), delaySeconds: 8 });
    expect(alone).toEqual({ kind: 'later', chunk: chunkOf(slicesOf(1)), delaySeconds: 4 });
    expect(Object.keys(timesOf(world, beside))).toEqual(['1']);
    if (beside?.kind !== 'run') throw new Error('nothing leaves');
    expect(beside.leaves[0]?.slice.recipients[0]).toEqual({ ...blocked, notBeforeMs: startMs + 4_500 });
  });

  test('leave no slot to two: a slice that goes back with some of them reserves again', async () => {
    const world = new ChunkRunWorld();
    const first = await world.reserved(72 * 60);
    await world.wait(2_000);
    await lateOthers(world);
    const recipients = [recipientAt(0), recipientAt(1, later(60_000)), recipientAt(2)];
    const [placed] = await world.place([
      chunkOf([{ try: 0, size: 3, position: first, recipients }], { dispatchId: 'K', lane: 'dispatch-2' }),
    ]);
    if (placed?.kind !== 'later') throw new Error('it leaves now');
    expect(placed.chunk.slices[0]).not.toHaveProperty('position');
  });
});
