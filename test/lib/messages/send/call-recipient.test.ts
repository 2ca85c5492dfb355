import { describe, expect, test } from 'vitest';
import type { ChunkRecipient, QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled, longestParkMs } from '../../../../lib/messages/dispatch/item-state.ts';
import {
  blockedUntilMs,
  perSecondOf,
  recipientHashOf,
  unknownPace,
} from '../../../../lib/messages/pace/number-pace.ts';
import { type FailureFacts, type FailureKind, PlatformFailure } from '../../../../lib/platform/failure.ts';
import {
  ChunkRunWorld,
  chunkOf,
  chunkOfOne,
  failingWith,
  phoneNumberId,
  recipientAt,
  slicesOf,
  startMs,
} from './chunk-run-world.ts';

const dayMs = 86_400_000;

describe('its own time', () => {
  test('a wait that is nearly over costs one more try, and no slot before its end', async () => {
    const world = new ChunkRunWorld();
    let refusals = 0;
    world.send = async () => {
      refusals += 1;
      if (refusals === 1) throw new PlatformFailure('refused', { code: 130429 });
      return {};
    };
    expect(await world.workAll(chunkOfOne())).toBe(2);
    expect(world.posted.map(({ atMs }) => atMs - startMs)).toEqual([0, 1_000]);
    expect(world.outcome(0)?.state).toBe('sent');
  });

  test('a recipient that is not due, carried beside others, is not called and keeps that time', async () => {
    const world = new ChunkRunWorld();
    const recipients = [recipientAt(0), recipientAt(1, { notBeforeMs: startMs + 6_000 })];
    await world.work([chunkOf([{ try: 0, size: 2, position: await world.reserved(2), recipients }])]);
    expect(world.posted.map(({ index }) => index)).toEqual([0]);
    expect(world.requeued).toMatchObject([
      { delaySeconds: 5, chunk: { slices: [{ try: 1, recipients: [{ index: 1, notBeforeMs: startMs + 6_000 }] }] } },
    ]);
    expect(world.requeued[0]?.chunk).not.toMatchObject({ missedSlots: expect.anything() });
  });
});

describe('between claim and call (D46, D53)', () => {
  test.each<[string, DispatchItemState, object]>([
    ['stopped', { stop: cancelled(startMs) }, { state: 'failed', code: 'cancelled' }],
    [
      'parked',
      { parked: { code: 'template_paused', scope: 'template', sinceMs: startMs } },
      { state: 'again', dueMs: startMs + 15_000 },
    ],
    [
      'parked for a day',
      { parked: { code: 'template_paused', scope: 'template', sinceMs: startMs - longestParkMs } },
      { state: 'expired', code: 'template_paused' },
    ],
  ])('its dispatch was %s: no recipient is called', async (_, state, outcome) => {
    const world = new ChunkRunWorld();
    world.faultOf = (name) => {
      if (name !== 'claimSlice') return undefined;
      world.states.set('J', state);
      if (state.parked !== undefined) world.hold();
      return undefined;
    };
    await world.work([chunkOfOne()]);
    expect([world.posted, world.outcome(0)]).toEqual([[], outcome]);
  });

  test('the clock was put back, and what had expired has no slot: it takes one in its next try', async () => {
    const world = new ChunkRunWorld();
    const nowMs = () => (world.count('claimSlice') === 0 ? world.nowMs : world.nowMs - 1_000);
    await world.work([chunkOfOne({}, { expiresAtMs: startMs })], { nowMs });
    expect([world.posted, world.outcome(0)]).toEqual([[], { state: 'again', dueMs: startMs - 1_000 }]);
    expect(world.requeued).toMatchObject([{ delaySeconds: 0, chunk: { missedSlots: 1 } }]);
  });
});

describe('a message that may not be sent any more (D27)', () => {
  test.each<[string, Partial<ChunkRecipient>, Partial<QueuedChunk>, number, string]>([
    ['expired', {}, { expiresAtMs: startMs + 30_000 }, 30_000, 'expired expired'],
    ['retried for a day', { attempts: { throughput: 1 } }, {}, dayMs, 'failed retry_deadline'],
    ['older than claims are remembered', {}, {}, 28 * dayMs, 'failed retry_deadline'],
  ])('%s: it ends without a call', async (_, recipient, changes, afterMs, ended) => {
    const world = new ChunkRunWorld();
    await world.wait(afterMs);
    expect(await world.work([chunkOfOne(recipient, changes)])).toEqual([]);
    const { state, code } = world.outcome(0) as { state: string; code: string };
    expect([world.posted, `${state} ${code}`]).toEqual([[], ended]);
  });

  test.each<[string, Partial<ChunkRecipient>, Partial<QueuedChunk>, number]>([
    ['first delivered after two days of backlog', {}, {}, 2 * dayMs],
    ['a moment before its expiry', {}, { expiresAtMs: startMs + 30_000 }, 29_999],
    ['retried for less than a day', { attempts: { pair: 3 } }, {}, dayMs - 1],
    [
      'retried for longer, as it expires later',
      { attempts: { pair: 3 } },
      { expiresAtMs: startMs + 3 * dayMs },
      2 * dayMs,
    ],
  ])('%s is still sent', async (_, recipient, changes, afterMs) => {
    const world = new ChunkRunWorld();
    await world.wait(afterMs);
    await world.work([chunkOfOne(recipient, changes)]);
    expect(world.posted).toHaveLength(1);
  });

  test('because it expired while its slice was claimed, or while its credential was read', async () => {
    for (const ready of [async () => undefined, (ms: number) => ms]) {
      const world = new ChunkRunWorld();
      const isClaim = ready.length === 0;
      world.latencyOf = (name) => (isClaim && name === 'claimSlice' ? 40 : 0);
      const changes = isClaim ? {} : { ready: async () => await world.time.sleep(40) };
      await world.work([chunkOfOne({}, { expiresAtMs: startMs + 40 })], changes);
      expect([world.posted, world.outcome(0)?.state]).toEqual([[], 'expired']);
      expect(world.events.sent).toMatchObject([{ type: 'message.expired' }]);
    }
  });

  test('because it cannot be composed (R14)', async () => {
    const world = new ChunkRunWorld();
    const { request: _none, ...recipient } = recipientAt(0);
    await world.work([chunkOf([{ try: 0, size: 1, recipients: [recipient] }])]);
    expect([world.posted, world.outcome(0)]).toEqual([[], { state: 'failed', code: 'not_composable' }]);
  });

  test('because its template has changed before its time, and it does not fit any more (D56)', async () => {
    const world = new ChunkRunWorld();
    const { request: _none, ...recipient } = recipientAt(0);
    await world.work([chunkOf([{ try: 0, size: 1, recipients: [{ ...recipient, unfit: true }] }])]);
    expect([world.posted, world.outcome(0)]).toEqual([[], { state: 'failed', code: 'template_changed' }]);
  });
});

describe('what the platform answers', () => {
  test('that it took the message: its id is recorded', async () => {
    for (const answer of [{}, { messageStatus: 'accepted' }]) {
      const world = new ChunkRunWorld();
      const sent: unknown[] = [];
      world.send = async (posting) => {
        sent.push(posting);
        return answer;
      };
      await world.work([chunkOfOne()]);
      const { request } = recipientAt(0);
      expect(sent).toEqual([
        { wabaId: '200000000000001', phoneNumberId, path: 'messages', credential: 'main', request },
      ]);
      expect(world.outcome(0)).toEqual({ state: 'sent', platformMessageId: 'platform-0' });
      expect(world.logged.map(({ event }) => event)).toEqual(['send.batch']);
    }
  });

  test.each(['held_for_quality_assessment', 'paused'])(
    'that it holds the message: %s is recorded (D39)',
    async (word) => {
      const world = new ChunkRunWorld();
      world.send = async () => ({ messageStatus: word });
      await world.work([chunkOfOne()]);
      expect(world.outcome(0)).toEqual({ state: 'sent', platformMessageId: 'platform-0', held: word });
      expect(world.facts('send.batch')).toEqual([{ count: 1, tally: { [`held_${word}`]: 1 } }]);
    },
  );

  test('by an unknown word: taken, and logged (D39)', async () => {
    const world = new ChunkRunWorld();
    world.send = async () => ({ messageStatus: 'teleported' });
    await world.work([chunkOfOne()]);
    expect(world.outcome(0)).toEqual({ state: 'sent', platformMessageId: 'platform-0' });
    expect(world.facts('send.status_unknown')).toEqual([{ messageId: 'J-0', code: 'teleported' }]);
  });

  test.each<[string, FailureKind, FailureFacts, object]>([
    [
      'a refusal',
      'refused',
      { code: 131026, userMessage: 'no such number' },
      { state: 'failed', code: '131026', reason: 'no such number' },
    ],
    ['silence', 'ambiguous', {}, { state: 'unknown', code: 'no_answer' }],
    ['a gateway', 'ambiguous', { httpStatus: 502 }, { state: 'unknown', code: 'http_502' }],
    [
      '132015 of which it is open whether it sent',
      'ambiguous',
      { httpStatus: 500, code: 132015 },
      { state: 'unknown', code: '132015' },
    ],
  ])('%s is final, and never tried again', async (_, kind, facts, outcome) => {
    const world = new ChunkRunWorld();
    world.send = failingWith(kind, facts);
    await world.workAll(chunkOfOne());
    await world.work([chunkOfOne()]);
    expect([world.posted.length, world.outcome(0)]).toEqual([1, outcome]);
    expect(JSON.stringify(world.logged)).not.toContain('no such number');
    expect(world.table.doubtful.has('J')).toBe(kind === 'ambiguous');
  });

  test('an error of ours is unknown as well', async () => {
    const world = new ChunkRunWorld();
    world.send = async () => Promise.reject(new TypeError('ours'));
    await world.work([chunkOfOne()]);
    expect(world.outcome(0)).toEqual({ state: 'unknown', code: 'error' });
  });

  test.each<[string, FailureKind, FailureFacts, string, number]>([
    ['too many', 'refused', { code: 130429 }, 'throughput', 1],
    ['too many, for so long', 'refused', { httpStatus: 429, retryAfterSeconds: 77 }, 'throughput', 77],
    ['the calls of an hour', 'refused', { code: 80007, retryAfterSeconds: 660 }, 'quota', 660],
    ['too many to that person', 'refused', { code: 131056 }, 'pair', 1],
    ['the credential', 'refused', { httpStatus: 401, code: 190 }, 'credential', 120],
    ['the number is being upgraded, at HTTP 500', 'ambiguous', { httpStatus: 500, code: 131057 }, 'maintenance', 60],
    ['no connection', 'not_sent', {}, 'unreachable', 2],
  ])('%s: not taken, and tried again', async (_, kind, facts, pace, seconds) => {
    const world = new ChunkRunWorld();
    world.send = failingWith(kind, facts);
    await world.work([chunkOfOne({ attempts: { quota: 0, unreachable: 0 } })]);
    expect(world.outcome(0)).toEqual({ state: 'again', dueMs: startMs + seconds * 1_000 });
    const attempts = { quota: 0, unreachable: 0, [pace]: 1 };
    const recipients = [recipientAt(0, { attempts, notBeforeMs: startMs + seconds * 1_000 })];
    expect(world.requeued).toEqual([
      { chunk: chunkOfOne({}, { slices: [{ try: 1, size: 1, recipients }] }), delaySeconds: seconds - 1 },
    ]);
    expect(world.facts('send.batch')).toEqual([{ count: 1, tally: { [`retry_${pace}`]: 1 } }]);
    const named = world.facts('send.credential_refused');
    expect(named).toEqual(
      pace === 'credential' ? [{ messageId: 'J-0', clientId: 1_001, wabaId: chunkOf([]).wabaId }] : [],
    );
  });

  test('tries of one kind do not make the wait of another longer', async () => {
    const world = new ChunkRunWorld();
    world.send = failingWith('refused', { code: 130429 });
    await world.work([chunkOfOne({ attempts: { unreachable: 8, throughput: 2 } })]);
    expect(world.outcome(0)).toEqual({ state: 'again', dueMs: startMs + 4_000 });
    const [recipient] = world.requeued[0]?.chunk.slices[0]?.recipients ?? [];
    expect(recipient?.attempts).toEqual({ unreachable: 8, throughput: 3 });
  });

  test('throttled for a day: never failed before, always a longer wait (R17)', async () => {
    const world = new ChunkRunWorld();
    world.send = failingWith('refused', { code: 130429, userMessage: 'slower' });
    const dueMs: number[] = [];
    world.faultOf = (name) => {
      const outcome = world.outcome(0);
      if (name === 'sendLater' && outcome?.state === 'again') dueMs.push((outcome.dueMs - world.nowMs) / 1_000);
      return undefined;
    };
    await world.workAll(chunkOfOne(), {}, 1_000);
    expect(dueMs.slice(0, 11)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900]);
    expect(world.outcome(0)).toEqual({ state: 'failed', code: 'retry_deadline', reason: 'slower' });
    expect(world.nowMs - startMs).toBeLessThanOrEqual(dayMs);
    expect(world.nowMs - startMs).toBeGreaterThan(dayMs - 1_000_000);
  });
});

describe('what calls teach about the pace of their number', () => {
  const perSecond = (world: ChunkRunWorld) =>
    perSecondOf(80, world.paces.stored.get(phoneNumberId) ?? unknownPace, world.nowMs);

  test('ten of a run that are one too many make it slower by a quarter, once', async () => {
    const world = new ChunkRunWorld();
    world.send = failingWith('refused', { code: 130429 });
    const chunk = chunkOf(slicesOf(10, await world.reserved(10)));
    await world.work([chunk]);
    expect([perSecond(world), world.count('changePace')]).toEqual([60, 1]);
  });

  test.each([
    [100, 60],
    [99, 80],
    [undefined, 80],
  ])('a usage of %s leaves %i a second, and the message sent', async (usagePercent, left) => {
    const world = new ChunkRunWorld();
    world.send = async () => (usagePercent === undefined ? {} : { usagePercent });
    await world.work([chunkOfOne()]);
    expect([perSecond(world), world.outcome(0)?.state]).toEqual([left, 'sent']);
  });

  test('131056: that person is remembered for as long, for other dispatches as well', async () => {
    const world = new ChunkRunWorld();
    world.send = failingWith('refused', { code: 131056 });
    await world.work([chunkOfOne({ attempts: { pair: 2 } })]);
    const pace = world.paces.stored.get(phoneNumberId) ?? unknownPace;
    expect(blockedUntilMs(pace, recipientHashOf(recipientAt(0).to), world.nowMs)).toBe(world.nowMs + 16_000);
    expect(perSecond(world)).toBe(80);
    await world.work([chunkOfOne({}, { dispatchId: 'K' })]);
    expect(world.requeued[1]).toMatchObject({ delaySeconds: 15, chunk: { dispatchId: 'K' } });
    expect(world.posted).toHaveLength(1);
  });

  test('what cannot be written down is no reason to lose the message', async () => {
    const world = new ChunkRunWorld();
    world.send = failingWith('refused', { code: 130429 });
    const chunk = chunkOf(slicesOf(1, await world.reserved(1)));
    world.faultOf = (name) => (name === 'changePace' ? 'fails' : undefined);
    expect(await world.work([chunk])).toEqual([]);
    expect([world.outcome(0)?.state, world.requeued.length]).toEqual(['again', 1]);
    expect(world.facts('send.pace_failed')).toEqual([{ count: 1, error: 'Error' }]);
  });
});

describe('a refusal of the template concerns its whole dispatch (D46)', () => {
  test('132015: those that were refused wait, no recipient of it is called meanwhile, and they are sent when it goes on', async () => {
    const world = new ChunkRunWorld();
    world.states.set('J', { begun: true });
    world.send = failingWith('refused', { code: 132015 });
    await world.work([chunkOf(slicesOf(10))]);
    expect([world.posted.length, world.count('watch')]).toEqual([10, 1]);
    expect(world.facts('send.batch')).toEqual([{ count: 1, tally: { retry_held: 10 } }]);
    const [waiting] = world.requeued.splice(0);
    expect(waiting).toMatchObject({ delaySeconds: 14, chunk: { slices: [{ try: 1 }] } });
    expect(waiting?.chunk.slices[0]?.recipients[0]).not.toMatchObject({ attempts: expect.anything() });
    const others = [{ try: 0, size: 10, recipients: [recipientAt(10)] }];
    await world.work([chunkOf(slicesOf(10), { slices: others })]);
    expect([world.posted.length, world.requeued.length, world.table.slices.size]).toEqual([10, 1, 1]);
    expect(world.states.get('J')?.parked).toEqual({ code: 'template_paused', scope: 'template', sinceMs: startMs });
    // The dispatch is still parked; the missing hold alone lets the worker send.
    world.holds.stored.clear();
    world.send = async () => ({});
    await world.wait(15_000);
    await world.work([waiting?.chunk ?? chunkOfOne()]);
    expect(world.outcomes(10)).toEqual(Array(10).fill('sent'));
  });

  test('132016 stops it: the refused fail, with what the platform says, and so do those that were not called yet', async () => {
    const world = new ChunkRunWorld();
    world.send = failingWith('refused', { code: 132016, userMessage: 'for its quality' });
    const stop = { state: 'failed', code: '132016', reason: 'for its quality' };
    await world.work([chunkOfOne()]);
    expect(world.outcome(0)).toEqual(stop);
    const rest = { try: 0, size: 1, recipients: [recipientAt(10)] };
    await world.work([chunkOf([rest])]);
    expect([world.outcome(10), world.posted.length]).toEqual([stop, 1]);
    expect(world.events.sent).toMatchObject(Array(2).fill({ data: { code: '132016', reason: 'for its quality' } }));
  });

  test.each([132015, 132016])('%i that leaves open whether it sent holds nothing back', async (code) => {
    const world = new ChunkRunWorld();
    world.send = failingWith('ambiguous', { httpStatus: 500, code });
    await world.work([chunkOfOne()]);
    expect([world.outcome(0), world.table.dispatches.size, world.requeued]).toEqual([
      { state: 'unknown', code: String(code) },
      0,
      [],
    ]);
  });

  test('the first messages that are taken after a pause end it, once a run; none does where there was no pause', async () => {
    const world = new ChunkRunWorld();
    await world.work([chunkOfOne()]);
    world.states.set('K', { pausedFromMs: startMs });
    await world.work([chunkOf(slicesOf(10), { dispatchId: 'K' })]);
    world.states.set('L', { pausedFromMs: startMs });
    world.send = failingWith('refused', { code: 131026 });
    await world.work([chunkOfOne({}, { dispatchId: 'L' })]);
    expect(world.calls.filter((call) => call.startsWith('endPause'))).toEqual(['endPause']);
    expect(world.states.get('K')).toEqual({});
  });
});
