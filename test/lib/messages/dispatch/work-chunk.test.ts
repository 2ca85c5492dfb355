import { describe, expect, test } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/chunk.ts';
import { claimed, ended, type Outcome, withdrawn } from '../../../../lib/messages/dispatch/claims/slice.ts';
import { claimLifeMs } from '../../../../lib/messages/dispatch/deadlines.ts';
import { cancelled, type JobState } from '../../../../lib/messages/job-state.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { countedBy } from '../../../support/counted.ts';
import type { FlatPorts } from '../../../support/flat-ports.ts';
import { ChunkRunWorld, chunkOf, recipientAt, slicesOf, startMs } from './chunk-run-world.ts';

/** One delivery of a chunk: its claims, records, events and requeued copies, and their order. */

const refusal = new PlatformFailure('refused', { code: 131026, userMessage: 'undeliverable' });
const key = { jobId: 'J', slice: 0 };

/** Another run's claim. */
function claimedBefore(world: ChunkRunWorld, outcomes?: ReadonlyMap<number, Outcome>, size = 1) {
  const own = claimed(undefined, { key, try: 0, owner: 'other/0', atMs: world.nowMs, size });
  world.table.slices.set('J 0', outcomes === undefined ? own : ended(own, outcomes));
}

test('thirty in three slices cost two writes each, and a look; with nothing to tell the event queue is not called (R15)', async () => {
  const world = new ChunkRunWorld();
  expect(await world.work([chunkOf(slicesOf(30, await world.reserved(30)))])).toEqual([]);
  expect(world.posted).toHaveLength(30);
  expect(world.calls.toSorted()).toEqual([
    ...Array(3).fill('claimSlice'),
    ...Array(3).fill('endSlice'),
    'look',
    ...Array(3).fill('lookAtJob'),
  ]);
});

test('a slice is claimed, its job is read, then it is called (D46, D53)', async () => {
  const world = new ChunkRunWorld();
  world.send = async () => Promise.resolve({}).finally(() => world.calls.push('called'));
  await world.work([chunkOf(slicesOf(2))]);
  expect(world.calls).toEqual(['look', 'changePace', 'claimSlice', 'lookAtJob', 'called', 'called', 'endSlice']);
});

test('what the platform calls messages is noted once it is recorded, before anything is told or acknowledged (D55)', async () => {
  const world = new ChunkRunWorld();
  world.send = async (_, index) => (index === 1 ? Promise.reject(refusal) : {});
  const noted: unknown[] = [];
  let isAway = true;
  const noteSent: FlatPorts['noteSent'] = async ({ jobId, wabaId, phoneNumberId }, endings) => {
    world.calls.push('noteSent');
    if (isAway) throw new Error('away');
    noted.push({ jobId, wabaId, phoneNumberId }, ...endings.map(({ outcome }) => outcome));
  };
  const chunk = chunkOf(slicesOf(2));
  await world.work([chunk], { noteSent });
  expect(world.calls.slice(-3)).toEqual(['endSlice', 'noteSent', 'sendLater']);
  isAway = false;
  await world.work(world.requeued.map((copy) => copy.chunk), { noteSent }); // biome-ignore format: one row
  expect(world.calls.slice(-2)).toEqual(['noteSent', 'sendEvents']);
  const { jobId, wabaId, phoneNumberId } = chunk;
  expect(noted).toMatchObject([
    { jobId, wabaId, phoneNumberId },
    { state: 'sent', platformMessageId: 'platform-0' },
    { state: 'failed' },
  ]);
  expect(world.posted).toHaveLength(2);
});

test('a slice of which others may still move a slot reads the number after its claim as well (D43)', async () => {
  const world = new ChunkRunWorld();
  const first = await world.reserved(72);
  const slices = slicesOf(20, first).map((slice, at) => ({ ...slice, position: first + 30 * at }));
  await world.work([chunkOf(slices)]);
  expect([world.posted.length, world.count('lookAtJob'), world.count('look')]).toEqual([20, 1, 2]);
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
  [13_000, [], ['look', 'changePace', 'claimSlice', 'lookAtJob', 'endSlice']],
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

  test('of a claim, its job or the receipts of its first try: it is ended uncalled, and tried again in 5 s', async () => {
    for (const name of ['claimSlice', 'lookAtJob', 'hasReceipt']) {
      const world = new ChunkRunWorld();
      world.faultOf = (call) => (call === name ? 'fails' : undefined);
      const tried = name === 'hasReceipt' ? 1 : 0;
      if (tried === 1) claimedBefore(world, new Map([[0, { state: 'again', dueMs: 0 }]]));
      await world.work([chunkOf([{ try: tried, size: 1, recipients: [recipientAt(0)] }])]);
      expect([world.posted, world.outcome(0)]).toEqual([[], { state: 'again', dueMs: startMs + 5_000 }]);
      expect(world.requeued).toMatchObject([{ delaySeconds: 4, chunk: { slices: [{ try: tried + 1 }] } }]);
      const tally = { claimSlice: 'claim_failed_Error', lookAtJob: 'job_not_read_Error', hasReceipt: undefined }[name];
      expect(world.facts('dispatch.batch')).toEqual(tally === undefined ? [] : [{ count: 1, tally: { [tally]: 1 } }]);
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
    const unwritten = { dispatchId: expect.stringMatching(/-10$/), count: 10, error: 'Error' };
    expect(world.facts('dispatch.end_failed')).toEqual(Array.from({ length: 15 }, () => unwritten));
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
    expect([world.events.sent, world.facts('dispatch.failed'), world.nowMs]).toEqual([[], [], startMs]);
    expect(world.requeued).toMatchObject([{ chunk: { storeFailures: 1 } }]);
  });

  test('nor is a delivery acknowledged while its copy cannot be queued', async () => {
    const world = new ChunkRunWorld();
    world.faultOf = (name) => (name === 'sendLater' || name === 'look' ? 'fails' : undefined);
    expect(await world.work([chunkOf(slicesOf(1))])).toEqual(['m0']);
    expect(world.facts('dispatch.error')).toEqual([{ error: 'Error' }]);
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
    expect(world.facts('dispatch.unknown')).toEqual(
      [0, 1].map((at) => ({ dispatchId: `J-${at}`, code: 'worker_lost' })),
    );
    expect(world.table.doubtful).toEqual(new Set(['J']));
    await world.wait(13 * 86_400_000);
    expect(await world.work([chunkOf(slicesOf(2))])).toEqual([]);
    expect(world.posted).toEqual([]);
    expect(new Set(world.events.sent.map(({ id }) => id)).size).toBe(2);
  });

  test('and left, after its job was stopped for certain: its messages end as the stop says (D53)', async () => {
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

  test.each<[string, JobState]>([
    ['its try was under way then', { stop: cancelled(startMs), underWay: { '0': 0 } }],
    ['it is not read yet what was', { stop: cancelled(startMs) }],
  ])('and left, of a stopped job: where %s they are unknown', async (_, state) => {
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

  test('when it was ended as its acceptance took the job back, nobody hears of it (D25)', async () => {
    const world = new ChunkRunWorld();
    world.table.slices.set('J 0', withdrawn({ key, atMs: startMs, size: 1 }));
    expect(await world.work([chunkOf(slicesOf(1), { straight: true, alone: true })])).toEqual([]);
    expect([world.posted, world.events.sent, world.requeued]).toEqual([[], [], []]);
  });
});

test('a later try calls nobody whom a receipt proves taken (D39)', async () => {
  const world = new ChunkRunWorld();
  const dueMs = startMs;
  claimedBefore(world, new Map([0, 1].map((place) => [place, { state: 'again', dueMs }])), 2);
  world.prove(1);
  await world.work([chunkOf([{ try: 1, size: 2, recipients: [recipientAt(0), recipientAt(1)] }])]);
  expect(world.posted.map(({ index }) => index)).toEqual([0]);
  expect(world.outcome(1)).toEqual({ state: 'sent', code: 'receipt' });
});

describe('a straight job (D25)', () => {
  const straight = { straight: true, alone: true, lane: '*' } as const;

  test('is begun by its worker before anything leaves, once', async () => {
    const world = new ChunkRunWorld();
    await world.work([chunkOf(slicesOf(1), straight)]);
    expect(world.calls).toEqual([
      'findPace',
      'changePace',
      'claimSlice',
      'lookAtJob',
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

  test('that cannot be begun is not sent; no other job is begun here', async () => {
    const world = new ChunkRunWorld();
    world.faultOf = (name) => (name === 'beginStraight' ? 'fails' : undefined);
    await world.work([chunkOf(slicesOf(1), straight), chunkOf(slicesOf(1), { jobId: 'K' })]);
    expect([world.posted.length, world.outcome(0)?.state, world.outcome(0, 'K')?.state]).toEqual([1, 'again', 'sent']);
    expect(world.count('beginStraight')).toBe(1);
  });
});

describe('what the client is told (D34, D41)', () => {
  const about = {
    did: '5491100000001',
    template: { name: 'order_update', language: 'en_US' },
    campaignId: 10,
    attends: { waitTime: -1 },
  };
  const data = (index: number) => ({
    ...{ job_id: 'J', message_id: `J-${index}`, to: recipientAt(index).to, campaign_id: 10, attends: { waitTime: -1 } },
    ...{ did: about.did, template: about.template, accepted_at: new Date(startMs).toISOString() },
  });

  test('every ending but a sending, in one call, under the id of its request; again under the same ids', async () => {
    const world = new ChunkRunWorld();
    world.send = async (_, index) => {
      if (index === 1) throw refusal;
      if (index === 2) throw new PlatformFailure('ambiguous');
      if (index === 4) throw new PlatformFailure('not_sent');
      return index === 3 ? { messageStatus: 'paused' } : {};
    };
    const chunk = chunkOf(slicesOf(5), { about, correlationId: 'one' });
    await world.work([chunk]);
    const common = { clientId: 1_001, correlationId: 'one', id: expect.any(String), timestampMs: startMs + 55 };
    const failed = { code: '131026', platform_code: 131026, reason: 'undeliverable' };
    const told = [
      { ...common, type: 'message.failed', data: { ...data(1), ...failed } },
      { ...common, type: 'message.unknown', data: { ...data(2), code: 'no_answer' } },
      { ...common, type: 'message.held', data: { ...data(3), code: 'paused', platform_message_id: 'platform-3' } },
    ];
    expect(world.events.sent).toEqual(told);
    expect(world.count('sendEvents')).toBe(1);
    await world.wait(5_000);
    await world.work([chunk]);
    const ids = world.events.sent.map(({ id }) => id);
    expect(ids.slice(3)).toEqual(ids.slice(0, 3));
    expect(world.posted).toHaveLength(5);
  });

  test('not queued: a copy comes, tells, and sends nothing again', async () => {
    const world = new ChunkRunWorld();
    world.events.broken = true;
    world.send = async () => Promise.reject(refusal);
    expect(await world.work([chunkOf(slicesOf(3))])).toEqual([]);
    const [copy] = world.requeued.splice(0);
    expect(copy).toMatchObject({ delaySeconds: 5, chunk: { storeFailures: 1 } });
    world.events.broken = false;
    await world.work([copy?.chunk ?? '']);
    expect([world.events.sent.length, world.posted.length]).toEqual([3, 3]);
  });

  test('the end of a job that is alone, once nobody of it is to be tried again, with counts', async () => {
    const world = new ChunkRunWorld();
    let again = true;
    world.send = async (_, index) => {
      if (index === 0 && again) throw new PlatformFailure('not_sent');
      if (index === 1) throw refusal;
      return index === 2 ? { messageStatus: 'paused' } : {};
    };
    await world.work([chunkOf(slicesOf(4), { alone: true })]);
    expect(world.events.sent.map(({ type }) => type)).toEqual(['message.failed', 'message.held']);
    again = false;
    await world.wait(3_000);
    await world.work([world.requeued[0]?.chunk ?? '']);
    const counts = { pending: 0, held: 1, sent: 2, delivered: 0, read: 0, failed: 1, expired: 0, unknown: 0 };
    expect(world.events.sent.slice(2)).toMatchObject([{ type: 'dispatch.completed', data: { total: 4, counts } }]);
  });

  test.each(['sent', 'failed'] as const)(
    'what an operator settled as %s is no event, only the end of its job',
    async (state) => {
      const world = new ChunkRunWorld();
      claimedBefore(world, new Map([[0, { state, code: 'resolved_by_operator' }]]));
      await world.work([chunkOf(slicesOf(1), { alone: true })]);
      expect(world.events.sent).toMatchObject([
        { type: 'dispatch.completed', data: { counts: { [state]: 1 }, total: 1 } },
      ]);
    },
  );

  test('a job of which more is queued has no end here', async () => {
    const world = new ChunkRunWorld();
    world.send = async () => Promise.reject(refusal);
    await world.work([chunkOf(slicesOf(1))]);
    expect(world.events.sent.map(({ type }) => type)).toEqual(['message.failed']);
  });
});

test('every message is counted once, by what became of it, and a receipt is expected of those that left (D38)', async () => {
  const world = new ChunkRunWorld();
  world.send = async (_, index) => {
    if (index === 1) throw refusal;
    if (index === 2) throw new PlatformFailure('ambiguous');
    if (index === 3) throw new PlatformFailure('refused', { code: 130429 });
    return index === 4 ? { messageStatus: 'paused' } : {};
  };
  const chunk = chunkOf(slicesOf(6), { receiptsExpected: true });
  const late = chunkOf(slicesOf(1), { jobId: 'K', expiresAtMs: startMs });
  const stopped = chunkOf(slicesOf(12).slice(1), { jobId: 'L', receiptsExpected: true });
  world.states.set('L', { stop: cancelled(startMs) });
  const silent = chunkOf(slicesOf(1), { jobId: 'M' });
  const lines = await countedBy(() => world.work([chunk, late, stopped, silent]));
  const sent = { MessagesSent: 3, MessagesHeld: 1, MessagesUnknown: 1, ReceiptsExpected: 2 };
  expect(lines).toMatchObject([{ ...sent, MessagesFailed: 3, MessagesExpired: 1 }]);
  expect(world.facts('dispatch.failed')).toEqual([
    ...['L-10', 'L-11'].map((dispatchId) => ({ dispatchId, code: 'cancelled' })),
    { dispatchId: 'J-1', code: '131026' },
  ]);
  expect(world.facts('dispatch.unknown')).toEqual([{ dispatchId: 'J-2', code: 'no_answer' }]);
  expect(world.facts('dispatch.batch')[0]?.tally).toEqual({
    sent: 3,
    held_paused: 1,
    expired_expired: 1,
    retry_throughput: 1,
  });
  expect(world.facts('dispatch.again')).toEqual([]);
  await world.wait(2_000);
  expect(await countedBy(() => world.work([chunk, late, stopped, silent]))).toEqual([]);
});

test('the credential of a chunk is read before its slices are claimed; what has expired needs none', async () => {
  const world = new ChunkRunWorld();
  const prepared: number[] = [];
  const ready = async () => void prepared.push(world.nowMs - startMs);
  const first = (await world.reserved(73)) + 72;
  await world.work([chunkOf(slicesOf(1, first))], { ready });
  expect(startMs + (prepared[0] ?? Number.NaN)).toBeLessThan(world.table.find(key)?.atMs ?? 0);
  prepared.length = 0;
  await world.work([chunkOf(slicesOf(1), { jobId: 'K', expiresAtMs: startMs })], { ready });
  expect(prepared).toEqual([]);
});

describe('whom the operator has erased (D60)', () => {
  const erased = { state: 'failed', code: 'erased' };

  test('is not called, and no event names the person; all others are', async () => {
    const world = new ChunkRunWorld();
    world.states.set('J', { begun: true, erased: new Set([1, 11]) });
    await world.workAll(chunkOf(slicesOf(13)));
    expect(world.posted.map(({ index }) => index)).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]);
    expect([world.outcome(1), world.outcome(11)]).toEqual([erased, erased]);
    expect(world.events.sent.map(({ type, data }) => [type, 'to' in data])).toEqual([
      ['message.failed', false],
      ['message.failed', false],
    ]);
  });

  test('is not called again where the mark came between two tries', async () => {
    const world = new ChunkRunWorld();
    world.send = async (_, index) => {
      if (world.posted.filter((each) => each.index === index).length > 1) return {};
      world.states.set('J', { begun: true, erased: new Set([0]) });
      throw new PlatformFailure('refused', { code: 130429 });
    };
    await world.workAll(chunkOf(slicesOf(2)));
    expect(world.posted.map(({ index }) => index)).toEqual([0, 1, 1]);
    expect([world.outcome(0), world.outcome(1)?.state]).toEqual([erased, 'sent']);
  });

  test('and whom a chunk has without an address, whatever its job says', async () => {
    const world = new ChunkRunWorld();
    const [slice] = slicesOf(2);
    await world.workAll(chunkOf([{ ...slice, try: 0, size: 2, recipients: [{ index: 0 }, recipientAt(1)] }]));
    expect([world.outcome(0), world.outcome(1)?.state]).toEqual([erased, 'sent']);
  });

  test('of a cancelled dispatch ends as that says: what was told stays (D53)', async () => {
    const world = new ChunkRunWorld();
    world.states.set('J', { begun: true, stop: cancelled(startMs), underWay: {}, erased: new Set([0]) });
    await world.work([chunkOf(slicesOf(1))]);
    expect(world.outcome(0)).toMatchObject({ code: 'cancelled' });
  });
});
