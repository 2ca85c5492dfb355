import { describe, expect, test } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { endedForTheDead, withdrawn } from '../../../../lib/messages/dispatch/slice.ts';
import { claimLifeMs } from '../../../../lib/messages/send/deadlines.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { countedBy } from '../../../support/counted.ts';
import { ChunkRunWorld, chunkOf, claimedBefore, recipientAt, slicesOf, startMs } from './chunk-run-world.ts';

/** A chunk is delivered again: after a failure of the store, or after another run has claimed its slices. */

const refusal = new PlatformFailure('refused', { code: 131026, userMessage: 'undeliverable' });

const key = { dispatchId: 'J', slice: 0 };

describe('while the store does not answer nothing is sent, and a copy waits longer each time (R17)', () => {
  test.each(['look', 'changePace', 'claimSlice'])('%s', async (name) => {
    const world = new ChunkRunWorld();
    const chunk = chunkOf(slicesOf(10));
    world.faultOf = (call) => (call === name || call === 'endSlice' || call === 'findSlice' ? 'fails' : undefined);
    const delays: number[] = [];
    let next: QueuedChunk = chunk;
    for (let times = 0; times < 9; times += 1) {
      expect(await world.work([next])).toEqual([]);
      const [copy] = world.requeued.splice(0);
      next = copy?.chunk ?? chunk;
      delays.push(copy?.delaySeconds ?? 0);
      expect(next).toEqual({ ...chunk, storeFailures: times + 1 });
    }
    expect([world.posted, world.table.slices.size]).toEqual([[], 0]);
    expect(delays).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900]);
    world.faultOf = () => undefined;
    await world.work([next]);
    expect(world.outcomes(10)).toEqual(Array(10).fill('sent'));
  });

  test('of a claim, its dispatch or the receipts of its first try: it is ended uncalled, and tried again in 5 s', async () => {
    for (const name of ['claimSlice', 'lookAtDispatch', 'hasReceipt']) {
      const world = new ChunkRunWorld();
      world.faultOf = (call) => (call === name ? 'fails' : undefined);
      const tried = name === 'hasReceipt' ? 1 : 0;
      if (tried === 1) claimedBefore(world, new Map([[0, { state: 'again', dueMs: 0 }]]));
      await world.work([chunkOf([{ try: tried, size: 1, recipients: [recipientAt(0)] }])]);
      expect([world.posted, world.outcome(0)]).toEqual([[], { state: 'again', dueMs: startMs + 5_000 }]);
      expect(world.requeued).toMatchObject([{ delaySeconds: 4, chunk: { slices: [{ try: tried + 1 }] } }]);
      const tally = {
        claimSlice: 'claim_failed_Error',
        lookAtDispatch: 'dispatch_not_read_Error',
        hasReceipt: undefined,
      }[name];
      expect(world.facts('send.batch')).toEqual(tally === undefined ? [] : [{ count: 1, tally: { [tally]: 1 } }]);
    }
  });

  test('the copy carries the slices concerned alone', async () => {
    const world = new ChunkRunWorld();
    const chunk = chunkOf(slicesOf(20), { storeFailures: 2 });
    const ports = world.ports();
    const slices: typeof ports.slices = {
      ...ports.slices,
      end: async (own, outcomes) => {
        if (own.key.slice === 1) throw new Error('away');
        return await ports.slices.end(own, outcomes);
      },
    };
    expect(await world.work([chunk], { slices, remainingMs: () => 60_000 })).toEqual([]);
    expect(world.posted).toHaveLength(20);
    const copy = { ...chunk, slices: chunk.slices.slice(1), storeFailures: 3 };
    expect(world.requeued).toEqual([{ chunk: copy, delaySeconds: 20 }]);
    // The run repeats this write for about a minute: its facts are known only to the run.
    const unwritten = { messageId: expect.stringMatching(/-10$/), count: 10, error: 'Error' };
    expect(world.facts('send.end_failed')).toEqual(Array.from({ length: 15 }, () => unwritten));
    expect(world.nowMs - startMs).toBeLessThan(60_000);
    expect(world.nowMs - startMs).toBeGreaterThan(45_000);
  });

  test('a write that succeeds later is as good', async () => {
    const world = new ChunkRunWorld();
    world.faultOf = (name) => (name === 'endSlice' && world.count(name) < 3 ? 'fails' : undefined);
    await world.work([chunkOf(slicesOf(1))]);
    expect([world.outcome(0)?.state, world.count('endSlice'), world.nowMs - startMs]).toEqual(['sent', 3, 1_500]);
  });

  test.each([
    [4_999, 1],
    [5_000, 15],
  ])('with %i ms left before the function ends, a write is tried so often: %i', async (left, tries) => {
    const world = new ChunkRunWorld();
    world.faultOf = (name) => (name === 'endSlice' ? 'fails' : undefined);
    let leftMs = 60_000;
    world.send = async () => {
      leftMs = left;
      return {};
    };
    await world.work([chunkOf(slicesOf(1))], { remainingMs: () => leftMs });
    expect([world.count('endSlice'), world.requeued.length]).toEqual([tries, 1]);
  });

  test('what another has ended meanwhile is looked at again, and neither repeated nor told', async () => {
    const world = new ChunkRunWorld();
    world.send = async () => Promise.reject(refusal);
    const { slices } = world.ports();
    await world.work([chunkOf(slicesOf(1))], { slices: { ...slices, end: async () => undefined } });
    expect([world.events.sent, world.facts('send.failed'), world.nowMs]).toEqual([[], [], startMs]);
    expect(world.requeued).toMatchObject([{ chunk: { storeFailures: 1 } }]);
  });

  test('nor is a delivery acknowledged while its copy cannot be queued', async () => {
    const world = new ChunkRunWorld();
    world.faultOf = (name) => (name === 'sendLater' || name === 'look' ? 'fails' : undefined);
    expect(await world.work([chunkOf(slicesOf(1))])).toEqual(['m0']);
    expect(world.facts('send.error')).toEqual([{ error: 'Error' }]);
  });

  test('a claim, or its end, whose reply was lost is as good as any (R16)', async () => {
    for (const name of ['claimSlice', 'endSlice']) {
      const world = new ChunkRunWorld();
      world.faultOf = (call) => (call === name && world.count(name) === 1 ? 'reply_lost' : undefined);
      const lines = await countedBy(async () => expect(await world.workAll(chunkOf(slicesOf(10)))).toBeLessThan(3));
      expect([world.posted.length, world.outcomes(10)]).toEqual([10, Array(10).fill('sent')]);
      expect(lines).toMatchObject([{ MessagesSent: 10 }]);
    }
  });
});

describe('a slice that another run has claimed', () => {
  test('and may still be working on: the delivery comes again when that run must be dead', async () => {
    const world = new ChunkRunWorld();
    claimedBefore(world);
    for (const ageMs of [0, 20_000, 65_000, claimLifeMs - 1]) {
      await world.wait(startMs + ageMs - world.nowMs);
      expect(await world.work([chunkOf(slicesOf(1))])).toEqual(['m0']);
    }
    expect(world.postponed.map(({ seconds }) => seconds)).toEqual([90, 70, 25, 1]);
    expect(world.postponed[0]?.receiptHandle).toBe('receipt of m0');
    expect([world.posted, world.requeued]).toEqual([[], []]);
  });

  test('and left: its messages end unknown, are logged, counted and told, and never sent again (R24)', async () => {
    const world = new ChunkRunWorld();
    claimedBefore(world, undefined, 2);
    await world.wait(claimLifeMs);
    const lines = await countedBy(async () => expect(await world.work([chunkOf(slicesOf(2))])).toEqual([]));
    expect([world.posted, world.outcome(1)]).toEqual([[], { state: 'unknown', code: 'worker_lost' }]);
    expect(lines).toMatchObject([{ MessagesUnknown: 2 }]);
    expect(world.facts('send.unknown')).toEqual(
      [0, 1].map((at) => ({ messageId: `J-${at}`, clientId: 1001, code: 'worker_lost' })),
    );
    expect(world.table.doubtful).toEqual(new Set(['J']));
    await world.wait(13 * 86_400_000);
    expect(await world.work([chunkOf(slicesOf(2))])).toEqual([]);
    expect(world.posted).toEqual([]);
    expect(new Set(world.events.sent.map(({ id }) => id)).size).toBe(2);
  });

  test('and left, after its dispatch was stopped for certain: its messages end as the stop says (D53)', async () => {
    const world = new ChunkRunWorld();
    claimedBefore(world, undefined, 2);
    world.states.set('J', { stop: cancelled(startMs), underWay: {} });
    await world.wait(claimLifeMs);
    const lines = await countedBy(async () => expect(await world.work([chunkOf(slicesOf(2))])).toEqual([]));
    expect(world.outcomes(2)).toEqual(['failed', 'failed']);
    expect([world.posted, world.outcome(1), world.table.doubtful.size]).toEqual([
      [],
      { state: 'failed', code: 'cancelled' },
      0,
    ]);
    expect(lines).toMatchObject([{ MessagesFailed: 2 }]);
    expect(world.events.sent.map(({ type }) => type)).toEqual(['message.failed', 'message.failed']);
  });

  test('and was taken for dead while it stalled: what it took is sent, counted, logged and told as resolved (D39)', async () => {
    const world = new ChunkRunWorld();
    world.send = async (_, index) => {
      const slice = world.table.find(key);
      if (slice?.state === 'claimed') world.table.put(endedForTheDead(slice, 'finder'));
      if (index === 1) throw new PlatformFailure('ambiguous');
      return index === 2 ? { messageStatus: 'paused' } : {};
    };
    const lines = await countedBy(async () => world.workAll(chunkOf(slicesOf(3))));
    expect(world.posted).toHaveLength(3);
    const sent = (index: number) => ({ state: 'sent', platformMessageId: `platform-${index}`, resolvedAtMs: startMs });
    const unknown = { state: 'unknown', code: 'worker_lost' };
    const outcomes = [0, 1, 2].map((index) => world.outcome(index));
    expect(outcomes).toEqual([sent(0), unknown, { ...sent(2), held: 'paused' }]);
    expect(lines).toMatchObject([{ MessagesResolved: 2 }]);
    expect(lines[0]).not.toHaveProperty('MessagesUnknown');
    expect(world.facts('send.resolved')).toEqual([0, 2].map((at) => ({ messageId: `J-${at}`, clientId: 1001 })));
    const told = world.events.sent.map(({ type, data, timestampMs }) => ({ type, data, at: timestampMs > startMs }));
    const data = (index: number) => ({ message_id: `J-${index}`, platform_message_id: `platform-${index}` });
    expect(told).toMatchObject([
      { type: 'message.resolved', data: data(0), at: true },
      { type: 'message.unknown', data: { message_id: 'J-1', code: 'worker_lost' }, at: false },
      { type: 'message.resolved', data: data(2), at: true },
      { type: 'message.held', data: { ...data(2), code: 'paused' } },
    ]);
  });

  test.each<[string, DispatchItemState]>([
    ['its try was under way then', { stop: cancelled(startMs), underWay: { '0': 0 } }],
    ['it is not read yet what was', { stop: cancelled(startMs) }],
  ])('and left, of a stopped dispatch: where %s they are unknown', async (_, state) => {
    const world = new ChunkRunWorld();
    claimedBefore(world);
    world.states.set('J', state);
    await world.wait(claimLifeMs);
    await world.work([chunkOf(slicesOf(1))]);
    expect(world.outcome(0)).toEqual({ state: 'unknown', code: 'worker_lost' });
  });

  test('two copies in one run are sent once, the other comes again', async () => {
    const world = new ChunkRunWorld();
    const chunk = chunkOf(slicesOf(1));
    const second = { ...chunk };
    world.send = async () => {
      await world.time.sleep(100);
      return {};
    };
    expect(await world.work([chunk, second])).toHaveLength(1);
    expect(world.posted).toHaveLength(1);
  });

  test('when it was ended as its acceptance took the dispatch back, no event is sent (D25)', async () => {
    const world = new ChunkRunWorld();
    world.table.slices.set('J 0', withdrawn({ key, atMs: startMs, size: 1 }));
    expect(await world.work([chunkOf(slicesOf(1), { straight: true, alone: true })])).toEqual([]);
    expect([world.posted, world.events.sent, world.requeued]).toEqual([[], [], []]);
  });
});

test('a later try calls no recipient whose message a receipt proves taken (D39)', async () => {
  const world = new ChunkRunWorld();
  const dueMs = startMs;
  claimedBefore(world, new Map([0, 1].map((place) => [place, { state: 'again', dueMs }])), 2);
  world.prove(1);
  await world.work([chunkOf([{ try: 1, size: 2, recipients: [recipientAt(0), recipientAt(1)] }])]);
  expect(world.posted.map(({ index }) => index)).toEqual([0]);
  expect(world.outcome(1)).toEqual({ state: 'sent', code: 'receipt' });
});
