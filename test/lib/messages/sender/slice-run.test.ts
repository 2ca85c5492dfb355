import { describe, expect, test } from 'vitest';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { endedForTheDead, type Slice } from '../../../../lib/messages/dispatch/slice.ts';
import type { SenderPorts } from '../../../../lib/messages/sender/sender-ports.ts';
import { correlationId } from '../../../../lib/observe/correlation.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { countedBy } from '../../../support/counted.ts';
import { failingWith, idOf, numberAt, phoneNumberId, startMs, wabaId, worldOf } from './slice-run-world.ts';

const refusal = new PlatformFailure('refused', { code: 131026, userMessage: 'undeliverable' });
const key = { dispatchId: 'J', slice: 0 };
/** A claim counts as dead after this time. */
const claimLifeMs = 150_000;

test('thirty in three slices cost two writes each, and a look; with nothing to tell the event queue is not called (R15)', async () => {
  const world = worldOf(30);
  await world.run();
  expect(world.posted).toHaveLength(30);
  const written = world.calls.filter((call) => !call.startsWith('find'));
  expect(written.toSorted()).toEqual([
    ...Array(3).fill('claimSlice'),
    ...Array(3).fill('endSlice'),
    ...Array(3).fill('look'),
  ]);
});

test('a slice is claimed, its dispatch is read, it is called and ended, what was sent is noted, then the rest is told (D46, D53, D55)', async () => {
  const world = worldOf(2);
  world.send = async (_, index) => {
    world.calls.push('called');
    if (index === 1) throw refusal;
    return {};
  };
  const noted: unknown[] = [];
  let isAway = true;
  const noteSent: SenderPorts['noteSent'] = async (facts, endings) => {
    world.calls.push('noteSent');
    if (isAway) throw new Error('away');
    noted.push(facts, ...endings.map(({ outcome }) => outcome));
  };
  world.changes = { noteSent };
  expect(await world.run()).toMatchObject([{ end: { kind: 'ended' }, isTold: false }]);
  const calls = world.calls.filter((call) => !call.startsWith('find'));
  expect(calls).toEqual(['claimSlice', 'look', 'called', 'called', 'endSlice', 'noteSent']);
  expect([world.events.sent, world.facts('send.error')]).toEqual([[], [{ error: 'Error' }]]);
  isAway = false;
  expect(await world.run()).toMatchObject([{ isTold: true }]);
  expect(world.calls.slice(-2)).toEqual(['noteSent', 'sendEvents']);
  expect(noted).toMatchObject([
    { dispatchId: 'J', wabaId, phoneNumberId },
    { state: 'sent', platformMessageId: 'platform-0' },
    { state: 'failed' },
  ]);
  expect(world.posted).toHaveLength(2);
});

test('a slice counts the calls of all its tries, refused ones too, and none for a recipient that is not called (D58)', async () => {
  const world = worldOf(3, { recipients: { 2: { to: numberAt(2) } } });
  const throttled = new PlatformFailure('refused', { code: 130429, retryAfterSeconds: 30 });
  world.send = async (_, index) => (index === 1 && world.posted.length < 4 ? Promise.reject(throttled) : {});
  await world.run();
  expect([world.posted.length, world.table.slices.get('J 0')?.calls]).toEqual([2, 2]);
  await world.runAll();
  expect([world.outcomes(2), world.posted.length]).toEqual([['sent', 'sent'], 4]);
  expect(world.table.slices.get('J 0')?.calls).toBe(4);
});

describe('what the client is told (D34)', () => {
  const about = { did: '5491100000001', template: { name: 'order_update', language: 'en_US' }, campaign_id: 10 };
  const data = (index: number) => ({
    ...{ dispatch_id: 'J', message_id: idOf(index), to: numberAt(index), attends: { waitTime: -1 } },
    ...{ ...about, accepted_at: new Date(startMs).toISOString() },
  });

  test('every ending but a sending, in one call, under the id of its request; again under the same ids', async () => {
    const world = worldOf(4, { campaignId: 10, attends: { waitTime: -1 }, correlationId: 'one' });
    const ids: (string | undefined)[] = [];
    world.send = async (_, index) => {
      await world.time.sleep(5);
      ids.push(correlationId());
      if (index === 1) throw refusal;
      if (index === 2) throw new PlatformFailure('ambiguous');
      return index === 3 ? { messageStatus: 'paused' } : {};
    };
    await world.run();
    const common = { clientId: 1_001, correlationId: 'one', id: expect.any(String), timestampMs: world.nowMs };
    const failed = { code: '131026', platform_code: 131026, reason: 'undeliverable' };
    const told = [
      { ...common, type: 'message.failed', data: { ...data(1), ...failed } },
      // Its time is that of the claim, as in the report: a receipt that resolves it is later (D29).
      { ...common, type: 'message.unknown', timestampMs: startMs, data: { ...data(2), code: 'no_answer' } },
      { ...common, type: 'message.held', data: { ...data(3), code: 'paused', platform_message_id: 'platform-3' } },
    ];
    expect(world.events.sent).toEqual(told);
    expect([world.count('sendEvents'), ids]).toEqual([1, Array(4).fill('one')]);
    await world.run();
    expect(world.events.sent.slice(3).map(({ id }) => id)).toEqual(world.events.sent.slice(0, 3).map(({ id }) => id));
    expect(world.posted).toHaveLength(4);
  });

  test('not queued: the slice is looked at again, tells, and sends nothing again', async () => {
    const world = worldOf(3);
    world.events.broken = true;
    world.send = async () => Promise.reject(refusal);
    expect(await world.run()).toMatchObject([{ isTold: false }]);
    world.events.broken = false;
    expect(await world.run()).toMatchObject([{ isTold: true }]);
    expect([world.events.sent.length, world.posted.length]).toEqual([3, 3]);
  });

  test.each(['sent', 'failed'] as const)('what an operator settled as %s is no event', async (state) => {
    const world = worldOf(1);
    world.claimedBefore(1, [{ state, code: 'resolved_by_operator' }]);
    await world.run();
    expect([world.events.sent, world.posted]).toEqual([[], []]);
  });
});

test('every message is counted once, by what became of it, and a receipt is expected of those that left (D38)', async () => {
  const world = worldOf(6, { receiptsExpected: true });
  world.send = async (_, index) => {
    if (index === 1) throw refusal;
    if (index === 2) throw new PlatformFailure('ambiguous');
    if (index === 3) throw new PlatformFailure('refused', { code: 130429, retryAfterSeconds: 30 });
    return index === 4 ? { messageStatus: 'paused' } : {};
  };
  world.accept(1, { dispatchId: 'K', expiresAtMs: startMs });
  world.accept(2, { dispatchId: 'L', receiptsExpected: true });
  world.states.set('L', { begun: true, stop: cancelled(startMs) });
  const runs = async () => {
    for (const dispatchId of ['J', 'K', 'L']) await world.run(dispatchId);
  };
  const counted = { MessagesSent: 2, MessagesHeld: 1, MessagesUnknown: 1, MessagesFailed: 3, MessagesExpired: 1 };
  expect(await countedBy(runs)).toMatchObject([{ ...counted, ReceiptsExpected: 2 }]);
  expect(world.facts('send.failed')).toEqual([
    { messageId: 'J-1', clientId: 1001, code: '131026' },
    ...['L-0', 'L-1'].map((messageId) => ({ messageId, clientId: 1001, code: 'cancelled' })),
  ]);
  expect(world.facts('send.unknown')).toEqual([{ messageId: 'J-2', clientId: 1001, code: 'no_answer' }]);
  expect(await countedBy(runs)).toEqual([]);
});

describe('a person that the operator has erased (D60)', () => {
  const erased = { state: 'failed', code: 'erased' };

  test('is not called, marked or without an address, and no event names the person; all others are', async () => {
    const world = worldOf(13);
    const { dispatches } = world.ports();
    const recipientsFrom: typeof dispatches.recipientsFrom = async (...asked) =>
      (await dispatches.recipientsFrom(...asked)).map((each) => (each.to === numberAt(11) ? {} : each));
    world.changes = { dispatches: { ...dispatches, recipientsFrom } };
    world.states.set('J', { begun: true, erased: new Set([1]) });
    await world.run();
    const called = world.posted.map(({ index }) => index);
    expect(called.toSorted((one, other) => one - other)).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]);
    expect([world.outcome(1), world.outcome(11)]).toEqual([erased, erased]);
    const told = world.events.sent.map(({ type, data }) => [type, 'to' in data && data.to]);
    expect(told).toEqual(Array(2).fill(['message.failed', undefined]));
  });

  test('is not called again where the mark came between two tries', async () => {
    const world = worldOf(2);
    world.send = async (_, index) => {
      if (world.posted.filter((each) => each.index === index).length > 1) return {};
      world.states.set('J', { begun: true, erased: new Set([0]) });
      throw new PlatformFailure('refused', { code: 130429, retryAfterSeconds: 30 });
    };
    await world.runAll();
    expect([world.posted.map(({ index }) => index), world.outcomes(2)]).toEqual([
      [0, 1, 1],
      ['erased', 'sent'],
    ]);
  });

  test('of a cancelled dispatch ends as that says: what was told stays (D53)', async () => {
    const world = worldOf(1);
    world.states.set('J', { begun: true, stop: cancelled(startMs), underWay: {}, erased: new Set([0]) });
    await world.run();
    expect(world.outcomes(1)).toEqual(['cancelled']);
  });
});

describe('while the store does not answer nothing is sent', () => {
  test.each(['claimSlice', 'look', 'hasReceipt'])('%s: ended uncalled, and tried again in 5 s', async (name) => {
    const world = worldOf(1);
    if (name === 'hasReceipt') world.claimedBefore(1, [{ state: 'again', dueMs: 0 }]);
    world.faultOf = (call) => (call === name && world.posted.length === 0 ? 'fails' : undefined);
    await world.run();
    expect([world.posted, world.outcome(0)]).toEqual([[], { state: 'again', dueMs: startMs + 5_000 }]);
    world.faultOf = () => undefined;
    await world.runAll();
    expect([world.posted.length, world.outcomes(1)]).toEqual([1, ['sent']]);
  });

  test('nor where the recipients are gone, or the platform as a whole is down: nothing is claimed', async () => {
    const world = worldOf(1, { total: 11 });
    const failed = { kind: 'failed', error: new Error('recipients of the dispatch are gone') };
    expect(await world.run()).toEqual([failed, failed]);
    const down = worldOf(1);
    down.breaker.stored = { ...down.breaker.stored, open: { sinceMs: 7, probeAtMs: startMs + 1, failedProbes: 0 } };
    expect(await down.run()).toEqual([{ kind: 'outage' }]);
    expect([down.calls.filter((call) => call === 'claimSlice'), down.posted]).toEqual([[], []]);
  });

  test('an end that cannot be written is repeated while the run has time: its facts are known to it alone', async () => {
    const world = worldOf(20);
    const { slices } = world.ports();
    const end: typeof slices.end = async (own, ...outcomes) => {
      if (own.key.slice === 1) throw new Error('away');
      return await slices.end(own, ...outcomes);
    };
    world.changes = { slices: { ...slices, end } };
    const ends = await world.run();
    expect(ends.map((each) => each.kind === 'run' && each.end.kind)).toEqual(['ended', 'later']);
    const unwritten = { messageId: idOf(10), count: 10, error: 'Error' };
    expect(world.facts('send.end_failed')[0]).toEqual(unwritten);
    expect(world.nowMs - startMs).toBeLessThan(120_000);
    expect(world.nowMs - startMs).toBeGreaterThan(110_000);
  });

  test.each([
    [4_999, 1],
    [5_000, 2],
  ])('with %i ms left before the function ends, a write is tried so often: %i', async (left, tries) => {
    const world = worldOf(1);
    world.faultOf = (name) => (name === 'endSlice' ? 'fails' : undefined);
    world.remainingMs = () => {
      if (world.count('endSlice') > 1) return 0;
      return world.count('endSlice') === 1 ? left : 120_000;
    };
    await world.run();
    expect(world.count('endSlice')).toBe(tries);
  });

  test('a write that succeeds later is as good, and so is one whose reply was lost (R16)', async () => {
    const world = worldOf(1);
    world.faultOf = (name) => (name === 'endSlice' && world.count(name) < 3 ? 'fails' : undefined);
    await world.run();
    expect([world.outcomes(1), world.count('endSlice'), world.nowMs - startMs]).toEqual([['sent'], 3, 1_500]);
    for (const name of ['claimSlice', 'endSlice']) {
      const unheard = worldOf(10);
      unheard.faultOf = (call) => (call === name && unheard.count(name) === 1 ? 'reply_lost' : undefined);
      const lines = await countedBy(() => unheard.runAll());
      expect([unheard.posted.length, unheard.outcomes(10)]).toEqual([10, Array(10).fill('sent')]);
      expect(lines).toMatchObject([{ MessagesSent: 10 }]);
    }
  });

  test('what another has ended meanwhile is looked at again, and neither told nor counted', async () => {
    const world = worldOf(1);
    world.send = async () => Promise.reject(refusal);
    const { slices } = world.ports();
    world.changes = { slices: { ...slices, end: async () => undefined } };
    expect(await world.run()).toMatchObject([{ end: { kind: 'later' } }]);
    expect([world.events.sent, world.facts('send.failed'), world.nowMs]).toEqual([[], [], startMs]);
  });
});

describe('a slice that another run has claimed', () => {
  test('and may still be working on is left alone until that run must be dead', async () => {
    const world = worldOf(1);
    world.claimedBefore(1);
    await world.wait(claimLifeMs - 1);
    expect(await world.run()).toMatchObject([{ end: { kind: 'later', atMs: startMs + claimLifeMs } }]);
    expect([world.posted, world.outcomes(1)]).toEqual([[], [undefined]]);
  });

  test('and left: its messages end unknown, are logged, counted and told, and never sent again (R24)', async () => {
    const world = worldOf(2);
    world.claimedBefore(2);
    await world.wait(claimLifeMs);
    const lines = await countedBy(() => world.run());
    expect([world.posted, world.outcome(1)]).toEqual([[], { state: 'unknown', code: 'worker_lost' }]);
    expect(lines).toMatchObject([{ MessagesUnknown: 2 }]);
    const logged = [0, 1].map((at) => ({ messageId: idOf(at), clientId: 1001, code: 'worker_lost' }));
    expect(world.facts('send.unknown')).toEqual(logged);
    expect(world.table.doubtful).toEqual(new Set(['J']));
    await world.wait(13 * 86_400_000);
    await world.run();
    expect([world.posted, new Set(world.events.sent.map(({ id }) => id)).size]).toEqual([[], 2]);
  });

  test('and left, after its dispatch was stopped for certain: its messages end as the stop says (D53)', async () => {
    const world = worldOf(2);
    world.claimedBefore(2);
    world.states.set('J', { begun: true, stop: cancelled(startMs), underWay: {} });
    await world.wait(claimLifeMs);
    expect(await countedBy(() => world.run())).toMatchObject([{ MessagesFailed: 2 }]);
    expect([world.posted, world.outcomes(2), world.table.doubtful.size]).toEqual([[], Array(2).fill('cancelled'), 0]);
    expect(world.events.sent.map(({ type }) => type)).toEqual(['message.failed', 'message.failed']);
  });

  test.each<[string, DispatchItemState]>([
    ['its try was under way then', { stop: cancelled(startMs), underWay: { '0': 0 } }],
    ['it is not read yet what was', { stop: cancelled(startMs) }],
  ])('and left, of a stopped dispatch: where %s they are unknown', async (_, state) => {
    const world = worldOf(1);
    world.claimedBefore(1);
    world.states.set('J', { begun: true, ...state });
    await world.wait(claimLifeMs);
    await world.run();
    expect(world.outcome(0)).toEqual({ state: 'unknown', code: 'worker_lost' });
  });

  test('and was taken for dead while it stalled: what it took is sent, counted, logged and told as resolved (D39)', async () => {
    const world = worldOf(3);
    world.send = async (_, index) => {
      const slice = world.table.find(key);
      if (slice?.state === 'claimed') world.table.put(endedForTheDead(slice, 'finder'));
      if (index === 1) throw new PlatformFailure('ambiguous');
      return index === 2 ? { messageStatus: 'paused' } : {};
    };
    const lines = await countedBy(() => world.run());
    const sent = (index: number) => ({ state: 'sent', platformMessageId: `platform-${index}`, resolvedAtMs: startMs });
    const unknown = { state: 'unknown', code: 'worker_lost' };
    expect([0, 1, 2].map((index) => world.outcome(index))).toEqual([sent(0), unknown, { ...sent(2), held: 'paused' }]);
    expect(lines).toMatchObject([{ MessagesResolved: 2 }]);
    expect(lines[0]).not.toHaveProperty('MessagesUnknown');
    expect(world.facts('send.resolved')).toEqual([0, 2].map((at) => ({ messageId: idOf(at), clientId: 1001 })));
    const data = (index: number) => ({ message_id: idOf(index), platform_message_id: `platform-${index}` });
    // What is told before the write is told with the others again, under the same ids.
    const told = [...new Map(world.events.sent.map((event) => [event.id, event])).values()];
    expect(told).toMatchObject([
      { type: 'message.resolved', data: data(0) },
      { type: 'message.unknown', data: { message_id: idOf(1), code: 'worker_lost' } },
      { type: 'message.resolved', data: data(2) },
      { type: 'message.held', data: { ...data(2), code: 'paused' } },
    ]);
  });

  test('and was taken for dead, and dies before it writes what it took: that is told already (D29)', async () => {
    const world = worldOf(1);
    world.send = async () => {
      world.table.put(endedForTheDead(world.table.find(key) as Slice, 'finder'));
      world.remainingMs = () => 0;
      return {};
    };
    world.faultOf = (name) => (name === 'endSlice' && world.events.sent.length > 0 ? 'fails' : undefined);
    await world.run();
    expect(world.outcome(0)).toEqual({ state: 'unknown', code: 'worker_lost' });
    expect(world.events.sent.map(({ type }) => type)).toEqual(['message.resolved']);
  });
});

test('a later try calls no recipient whose message a receipt proves taken (D39)', async () => {
  const world = worldOf(2);
  world.claimedBefore(2, Array(2).fill({ state: 'again', dueMs: startMs }));
  world.prove(1);
  await world.run();
  expect(world.posted.map(({ index }) => index)).toEqual([0]);
  expect(world.outcome(1)).toEqual({ state: 'sent', code: 'receipt' });
});

test('nothing is claimed whose turns come after the last call of the run', async () => {
  const world = worldOf(40);
  world.limitPerSecond = 1;
  world.remainingMs = (bornMs) => bornMs + 19_000 - world.nowMs;
  await world.run();
  // One slice may always be ahead of one that is not recorded.
  expect([world.count('claimSlice'), world.posted.length < 10]).toEqual([2, true]);
});

test('two runs that meet at a slice call it once', async () => {
  const world = worldOf(1);
  world.send = async () => await world.time.sleep(100).then(() => ({}));
  await world.pass(Promise.all([world.runBeside(), world.runBeside()]));
  expect([world.posted.length, world.outcomes(1)]).toEqual([1, ['sent']]);
});

test('an unclear answer marks its dispatch before the end, so that receipts look at its slices (D39)', async () => {
  const world = worldOf(1);
  world.send = failingWith('ambiguous');
  world.changes = { unknowns: { ...world.ports().unknowns, mark: async () => void world.calls.push('mark') } };
  await world.run();
  expect(world.calls.filter((call) => call === 'mark' || call === 'endSlice')).toEqual(['mark', 'endSlice']);
});
