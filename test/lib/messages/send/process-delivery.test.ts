import { describe, expect, test } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { claimLifeMs } from '../../../../lib/messages/send/deadlines.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { FlatPorts } from '../../../support/flat-ports.ts';
import { ChunkRunWorld, chunkOf, claimedBefore, recipientAt, slicesOf, startMs } from './chunk-run-world.ts';

const refusal = new PlatformFailure('refused', { code: 131026, userMessage: 'undeliverable' });

const key = { dispatchId: 'J', slice: 0 };

test('thirty in three slices cost two writes each, and a look; with nothing to tell the event queue is not called (R15)', async () => {
  const world = new ChunkRunWorld();
  expect(await world.work([chunkOf(slicesOf(30, await world.reserved(30)))])).toEqual([]);
  expect(world.posted).toHaveLength(30);
  expect(world.calls.toSorted()).toEqual([
    ...Array(3).fill('claimSlice'),
    ...Array(3).fill('endSlice'),
    'look',
    ...Array(3).fill('lookAtDispatch'),
  ]);
});

test('a slice is claimed, its dispatch is read, then it is called (D46, D53)', async () => {
  const world = new ChunkRunWorld();
  world.send = async () => Promise.resolve({}).finally(() => world.calls.push('called'));
  await world.work([chunkOf(slicesOf(2))]);
  expect(world.calls).toEqual(['look', 'changePace', 'claimSlice', 'lookAtDispatch', 'called', 'called', 'endSlice']);
});

test('what the platform calls messages is noted once it is recorded, before anything is told or acknowledged (D55)', async () => {
  const world = new ChunkRunWorld();
  world.send = async (_, index) => (index === 1 ? Promise.reject(refusal) : {});
  const noted: unknown[] = [];
  let isAway = true;
  const noteSent: FlatPorts['noteSent'] = async ({ dispatchId, wabaId, phoneNumberId }, endings) => {
    world.calls.push('noteSent');
    if (isAway) throw new Error('away');
    noted.push({ dispatchId, wabaId, phoneNumberId }, ...endings.map(({ outcome }) => outcome));
  };
  const chunk = chunkOf(slicesOf(2));
  await world.work([chunk], { noteSent });
  expect(world.calls.slice(-3)).toEqual(['endSlice', 'noteSent', 'sendLater']);
  isAway = false;
  await world.work(world.requeued.map((copy) => copy.chunk), { noteSent }); // biome-ignore format: one row
  expect(world.calls.slice(-2)).toEqual(['noteSent', 'sendEvents']);
  const { dispatchId, wabaId, phoneNumberId } = chunk;
  expect(noted).toMatchObject([
    { dispatchId, wabaId, phoneNumberId },
    { state: 'sent', platformMessageId: 'platform-0' },
    { state: 'failed' },
  ]);
  expect(world.posted).toHaveLength(2);
});

test('a slice counts the calls of all its tries, refused ones too, and none for a recipient that is not called (D58)', async () => {
  const world = new ChunkRunWorld();
  const throttled = new PlatformFailure('refused', { code: 130429 });
  world.send = async (_, index) => (index === 1 && world.posted.length < 4 ? Promise.reject(throttled) : {});
  const { request: _none, ...unfit } = recipientAt(2);
  await world.work([chunkOf([{ try: 0, size: 3, recipients: [recipientAt(0), recipientAt(1), unfit] }])]);
  expect([world.posted.length, world.table.slices.get('J 0')?.calls]).toEqual([2, 2]);
  for (let tries = 0; tries < 2; tries += 1) {
    await world.wait(60_000);
    await world.work(world.requeued.splice(0).map(({ chunk }) => chunk));
  }
  expect([world.outcomes(2), world.posted.length]).toEqual([['sent', 'sent'], 4]);
  expect(world.table.slices.get('J 0')?.calls).toBe(4);
});

test('a slice of which others may still move a slot reads the number after its claim as well (D43)', async () => {
  const world = new ChunkRunWorld();
  const first = await world.reserved(72);
  const slices = slicesOf(20, first).map((slice, at) => ({ ...slice, position: first + 30 * at }));
  await world.work([chunkOf(slices)]);
  expect([world.posted.length, world.count('lookAtDispatch'), world.count('look')]).toEqual([20, 1, 2]);
});

test('at most three slices are claimed and not ended', async () => {
  const world = new ChunkRunWorld();
  let most = 0;
  world.send = async () => {
    const open = [...world.table.slices.values()].filter(({ state }) => state === 'claimed').length;
    most = Math.max(most, open);
    await world.time.sleep(500);
    return {};
  };
  await world.work([chunkOf(slicesOf(50))]);
  expect(most).toBe(3);
});

test('a slow claim makes no other slice miss its slots', async () => {
  const world = new ChunkRunWorld();
  const first = (await world.reserved(140)) + 110;
  const ports = world.ports();
  const slices: typeof ports.slices = {
    ...ports.slices,
    claim: async (claim) => {
      if (claim.key.slice === 0) await world.time.sleep(1_000);
      return await ports.slices.claim(claim);
    },
  };
  await world.work([chunkOf(slicesOf(30, first))], { slices });
  expect(world.outcomes(30)).toEqual([...Array(10).fill('again'), ...Array(20).fill('sent')]);
});

test('far slots: queued for their time, the rest of a run before anything of it is claimed', async () => {
  const world = new ChunkRunWorld();
  const first = await world.reserved(72 * 10);
  const [now, later] = slicesOf(20, first);
  if (now === undefined || later === undefined) throw new Error('two slices');
  await world.work([chunkOf([now, { ...later, position: first + 72 * 5 }])]);
  expect(world.requeued).toMatchObject([{ delaySeconds: 3, chunk: { slices: [{ position: first + 72 * 5 }] } }]);
  expect(world.calls.indexOf('sendLater')).toBeLessThan(world.calls.indexOf('claimSlice'));
  expect(world.posted).toHaveLength(10);
});

test.each([
  [12_999, ['m0'], ['look', 'changePace']],
  [13_000, [], ['look', 'changePace', 'claimSlice', 'lookAtDispatch', 'endSlice']],
])('with %i ms left, and 13 s for a call, the delivery comes again or is worked off', async (left, again, calls) => {
  const world = new ChunkRunWorld();
  expect(await world.work([chunkOf(slicesOf(1))], { remainingMs: () => left })).toEqual(again);
  expect(world.calls).toEqual(calls);
});

describe('what has expired or will', () => {
  test('comes when it expires, and is told then (D27)', async () => {
    const world = new ChunkRunWorld();
    const first = await world.reserved(72 * 60);
    const chunk = chunkOf(slicesOf(1, first + 72 * 50), { expiresAtMs: startMs + 9_500 });
    await world.work([chunk]);
    expect(world.requeued[0]?.delaySeconds).toBe(10);
    await world.wait(10_000);
    await world.work([chunk]);
    expect([world.outcome(0)?.state, world.posted]).toEqual(['expired', []]);
    expect(world.events.sent.map(({ type }) => type)).toEqual(['message.expired']);
  });

  test('waits for the store as long as others where that cannot be written', async () => {
    const world = new ChunkRunWorld();
    world.faultOf = () => 'fails';
    const queue = {
      ...world.ports().queue,
      sendLater: async (_: QueuedChunk, seconds: number) => void delays.push(seconds),
    };
    const delays: number[] = [];
    await world.work([chunkOf(slicesOf(1), { expiresAtMs: startMs, storeFailures: 1 })], { queue });
    expect(delays).toEqual([10]);
  });
});

describe('a straight dispatch (D25)', () => {
  const straight = { straight: true, alone: true, lane: '*' } as const;

  test('is begun by its worker before anything leaves, once', async () => {
    const world = new ChunkRunWorld();
    await world.work([chunkOf(slicesOf(1), straight)]);
    expect(world.calls).toEqual([
      'findPace',
      'changePace',
      'claimSlice',
      'lookAtDispatch',
      'beginStraight',
      'endSlice',
      'sendEvents',
    ]);
    await world.work([chunkOf([{ ...slicesOf(20)[1], try: 0, size: 1, recipients: [recipientAt(10)] }], straight)]);
    expect(world.count('beginStraight')).toBe(1);
  });

  test('that was cancelled is claimed, and ends uncalled (D53)', async () => {
    const world = new ChunkRunWorld();
    world.states.set('J', { begun: true, stop: cancelled(startMs) });
    await world.work([chunkOf(slicesOf(2), straight)]);
    expect([world.posted, world.outcomes(2), world.count('look')]).toEqual([[], ['failed', 'failed'], 0]);
  });

  test('of which a later try comes is looked at before its claim: it may be parked (D46)', async () => {
    const world = new ChunkRunWorld();
    claimedBefore(world, new Map([[0, { state: 'again', dueMs: startMs }]]));
    const parked = { code: 'template_paused', scope: 'template', sinceMs: startMs } as const;
    world.states.set('J', { begun: true, parked, pausedFromMs: startMs });
    world.hold();
    await world.work([chunkOf([{ try: 1, size: 1, recipients: [recipientAt(0)] }], straight)]);
    expect([world.calls, world.posted]).toEqual([['look', 'sendLater'], []]);
  });

  test('whose worker died before is begun by the one that finds that, before anything is told', async () => {
    const world = new ChunkRunWorld();
    claimedBefore(world);
    await world.wait(claimLifeMs);
    await world.work([chunkOf(slicesOf(1), straight)]);
    const calls = world.calls.filter((call) => call === 'beginStraight' || call === 'sendEvents');
    expect([calls, world.states.get('J')]).toEqual([['beginStraight', 'sendEvents'], { begun: true }]);
  });

  test('that comes too late is begun before it is told of', async () => {
    const world = new ChunkRunWorld();
    await world.work([chunkOf(slicesOf(1), { ...straight, expiresAtMs: startMs })]);
    expect(world.outcome(0)?.state).toBe('expired');
    expect(world.calls.slice(-3)).toEqual(['beginStraight', 'endSlice', 'sendEvents']);
  });

  test('that cannot be begun is not sent; no other dispatch is begun here', async () => {
    const world = new ChunkRunWorld();
    world.faultOf = (name) => (name === 'beginStraight' ? 'fails' : undefined);
    await world.work([chunkOf(slicesOf(1), straight), chunkOf(slicesOf(1), { dispatchId: 'K' })]);
    expect([world.posted.length, world.outcome(0)?.state, world.outcome(0, 'K')?.state]).toEqual([1, 'again', 'sent']);
    expect(world.count('beginStraight')).toBe(1);
  });
});

test('the credential of a chunk is read before its slices are claimed; what has expired needs none', async () => {
  const world = new ChunkRunWorld();
  const prepared: number[] = [];
  const ready = async () => void prepared.push(world.nowMs - startMs);
  const first = (await world.reserved(73)) + 72;
  await world.work([chunkOf(slicesOf(1, first))], { ready });
  expect(startMs + (prepared[0] ?? Number.NaN)).toBeLessThan(world.table.find(key)?.atMs ?? 0);
  prepared.length = 0;
  await world.work([chunkOf(slicesOf(1), { dispatchId: 'K', expiresAtMs: startMs })], { ready });
  expect(prepared).toEqual([]);
});
