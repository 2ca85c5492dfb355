import { describe, expect, test } from 'vitest';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { countedBy } from '../../../support/counted.ts';
import { ChunkRunWorld, chunkOf, claimedBefore, recipientAt, slicesOf, startMs } from './chunk-run-world.ts';

const refusal = new PlatformFailure('refused', { code: 131026, userMessage: 'undeliverable' });

describe('what the client is told (D34, D41)', () => {
  const about = {
    did: '5491100000001',
    template: { name: 'order_update', language: 'en_US' },
    campaignId: 10,
    attends: { waitTime: -1 },
  };
  const data = (index: number) => ({
    ...{
      dispatch_id: 'J',
      message_id: `J-${index}`,
      to: recipientAt(index).to,
      campaign_id: 10,
      attends: { waitTime: -1 },
    },
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
      // Its time is that of the claim, as in the report: a receipt that resolves it is later (D29).
      { ...common, type: 'message.unknown', timestampMs: startMs, data: { ...data(2), code: 'no_answer' } },
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

  test('the end of a dispatch that is alone, once no recipient is to be tried again, with counts', async () => {
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
    'what an operator settled as %s is no event, only the end of its dispatch',
    async (state) => {
      const world = new ChunkRunWorld();
      claimedBefore(world, new Map([[0, { state, code: 'resolved_by_operator' }]]));
      await world.work([chunkOf(slicesOf(1), { alone: true })]);
      expect(world.events.sent).toMatchObject([
        { type: 'dispatch.completed', data: { counts: { [state]: 1 }, total: 1 } },
      ]);
    },
  );

  test('a dispatch of which more is queued has no end here', async () => {
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
  const late = chunkOf(slicesOf(1), { dispatchId: 'K', expiresAtMs: startMs });
  const stopped = chunkOf(slicesOf(12).slice(1), { dispatchId: 'L', receiptsExpected: true });
  world.states.set('L', { stop: cancelled(startMs) });
  const silent = chunkOf(slicesOf(1), { dispatchId: 'M' });
  const lines = await countedBy(() => world.work([chunk, late, stopped, silent]));
  const sent = { MessagesSent: 3, MessagesHeld: 1, MessagesUnknown: 1, ReceiptsExpected: 2 };
  expect(lines).toMatchObject([{ ...sent, MessagesFailed: 3, MessagesExpired: 1 }]);
  expect(world.facts('send.failed')).toEqual([
    ...['L-10', 'L-11'].map((messageId) => ({ messageId, clientId: 1001, code: 'cancelled' })),
    { messageId: 'J-1', clientId: 1001, code: '131026' },
  ]);
  expect(world.facts('send.unknown')).toEqual([{ messageId: 'J-2', clientId: 1001, code: 'no_answer' }]);
  expect(world.facts('send.batch')[0]?.tally).toEqual({
    sent: 3,
    held_paused: 1,
    expired_expired: 1,
    retry_throughput: 1,
  });
  expect(world.facts('dispatch.again')).toEqual([]);
  await world.wait(2_000);
  expect(await countedBy(() => world.work([chunk, late, stopped, silent]))).toEqual([]);
});

describe('a person that the operator has erased (D60)', () => {
  const erased = { state: 'failed', code: 'erased' };

  test('is not called, and no event names the person; all others are', async () => {
    const world = new ChunkRunWorld();
    world.states.set('J', { begun: true, erased: new Set([1, 11]) });
    await world.workAll(chunkOf(slicesOf(13)));
    expect(world.posted.map(({ index }) => index)).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]);
    expect([world.outcome(1), world.outcome(11)]).toEqual([erased, erased]);
    expect(world.events.sent.map(({ type, data }) => [type, 'to' in data && data.to])).toEqual([
      ['message.failed', undefined],
      ['message.failed', undefined],
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

  test('is not called either when the chunk has no address, whatever its dispatch says', async () => {
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
