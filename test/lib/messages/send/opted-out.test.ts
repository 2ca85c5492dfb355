import { describe, expect, test } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import type { InboundMessage } from '../../../../lib/messages/inbound/inbound-message.ts';
import type { OptOutChange } from '../../../../lib/opt-outs/entry.ts';
import { recordIdChange, recordOptOut } from '../../../../lib/opt-outs/record-opt-out.ts';
import type { Scope } from '../../../../lib/opt-outs/scope.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { ChunkRunWorld, chunkOf, phoneNumberId, recipientAt, slicesOf, startMs } from './chunk-run-world.ts';

/**
 * Opted-out persons are not called (D55): a worker reads opt-outs after the claim, and learns of others from answers.
 */

const { clientId, wabaId } = chunkOf([]);
const ofClient: Scope = { kind: 'client', clientId };
const ofNumber: Scope = { kind: 'number', wabaId, phoneNumberId };
const stopped: OptOutChange = { says: 'stopped', atMs: startMs, source: 'reply' };
const numberAt = (index: number) => recipientAt(index).to;

function marketing(count: number, changes: Partial<QueuedChunk> = {}): QueuedChunk {
  return chunkOf(slicesOf(count), { heedsOptOuts: true, ...changes });
}

async function stop(world: ChunkRunWorld, indexes: readonly number[], scope: Scope = ofClient): Promise<void> {
  for (const index of indexes) await say(world, [numberAt(index)], scope);
}

async function say(world: ChunkRunWorld, recipients: readonly string[], scope = ofClient, word = stopped) {
  await recordOptOut({ scope, recipients, word }, world.optOuts.writer());
}

function endings(world: ChunkRunWorld, count: number): (string | undefined)[] {
  return Array.from({ length: count }, (_, index) => {
    const outcome = world.outcome(index);
    return outcome?.state === 'failed' ? outcome.code : outcome?.state;
  });
}

test('a slice is claimed, marks are read with its dispatch, people in one request more, and the others are called', async () => {
  const world = new ChunkRunWorld();
  world.send = async () => Promise.resolve({}).finally(() => world.calls.push('called'));
  await stop(world, [1]);
  await world.work([marketing(3)]);
  expect(world.calls).toEqual([
    ...['look', 'changePace', 'claimSlice', 'lookAtDispatch', 'stoppedAmong', 'called', 'called', 'endSlice'],
    'sendEvents',
  ]);
  expect(endings(world, 3)).toEqual(['sent', 'opted_out', 'sent']);
  expect(world.events.sent).toMatchObject([{ type: 'message.failed', data: { message_id: 'J-1', code: 'opted_out' } }]);
});

test('lookups of opt-outs at 10,000 recipients: at most one request for ten, and without any opt-out none', async () => {
  const world = new ChunkRunWorld();
  const all = slicesOf(10_000);
  await world.work([marketing(30)]);
  expect(world.count('stoppedAmong')).toBe(0);
  await say(world, ['15550000000']);
  for (let first = 3; first < all.length; first += 3) {
    await world.work([marketing(0, { slices: all.slice(first, first + 3) })]);
  }
  expect([world.posted.length, world.count('stoppedAmong')]).toEqual([10_000, 997]);
}, 60_000);

describe('who is stopped', () => {
  test.each<[string, Scope, string[], Partial<QueuedChunk>, string]>([
    ['by the client', ofClient, [numberAt(0)], {}, 'opted_out'],
    ['by another client', { kind: 'client', clientId: 7 }, [numberAt(0)], {}, 'sent'],
    ['on the number, whichever client sends', ofNumber, [numberAt(0)], { clientId: 7 }, 'opted_out'],
    ['on another number of the WABA', { ...ofNumber, phoneNumberId: '9' }, [numberAt(0)], {}, 'sent'],
    ['in the WABA', { kind: 'waba', wabaId }, [numberAt(0)], {}, 'opted_out'],
    ['of a straight request', ofClient, [numberAt(0)], { straight: true, alone: true }, 'opted_out'],
    ['whose messages ask for no opt-outs', ofClient, [numberAt(0)], { heedsOptOuts: undefined as never }, 'sent'],
  ])('%s: %s', async (_, scope, recipients, changes, ending) => {
    const world = new ChunkRunWorld();
    await say(world, recipients, scope);
    const { heedsOptOuts, ...chunk } = marketing(1, changes);
    await world.work([heedsOptOuts === undefined ? chunk : { ...chunk, heedsOptOuts }]);
    expect([endings(world, 1), world.posted.length]).toEqual([[ending], ending === 'sent' ? 1 : 0]);
    if (changes.alone) expect(world.events.sent.map(({ type }) => type)).toContain('dispatch.completed');
  });

  test.each([
    ['with a plus', '+5491100000000', ['5491100000000']],
    ['by user id, with a known number', 'US.1', ['5491100000000', 'US.1']],
    ['by number, with a known user id', '5491100000000', ['5491100000000', 'US.1']],
    ['without the 9 of Argentina', '541100000000', ['5491100000000']],
    ['with the 1 of Mexico', '5215512345678', ['525512345678']],
    ['without the 9 of Brazil', '551187654321', ['5511987654321']],
  ])('sent to %s', async (_, to, recipients) => {
    const world = new ChunkRunWorld();
    await say(world, recipients);
    const recipientsOf = [recipientAt(0, { to }), recipientAt(1)];
    await world.work([marketing(0, { slices: [{ try: 0, size: 2, recipients: recipientsOf }] })]);
    expect(endings(world, 2)).toEqual(['opted_out', 'sent']);
  });
});

describe('a stop', () => {
  test('between claim and call goes its way, and is heard by the next try', async () => {
    const world = new ChunkRunWorld();
    world.send = async (_, index) => {
      if (index === 0) await stop(world, [1, 2]);
      if (index === 2) throw new PlatformFailure('not_sent');
      return {};
    };
    await world.workAll(marketing(3));
    expect([endings(world, 3), world.posted.map(({ index }) => index)]).toEqual([
      ['sent', 'sent', 'opted_out'],
      [0, 1, 2],
    ]);
  });

  test('of a person who starts again later is over', async () => {
    const world = new ChunkRunWorld();
    await stop(world, [0]);
    await say(world, [numberAt(0)], ofClient, { ...stopped, says: 'started', atMs: startMs + 1 });
    await world.work([marketing(1)]);
    expect(endings(world, 1)).toEqual(['sent']);
  });

  test('while the dispatch is held: the next in the slice asks whether it still is (D46)', async () => {
    const world = new ChunkRunWorld();
    world.hold('template:order_update/en_US', '132015', startMs - 3_600_000);
    await stop(world, [0]);
    await world.work([marketing(3)]);
    expect([endings(world, 3), world.posted.map(({ index }) => index)]).toEqual([['opted_out', 'sent', 'again'], [1]]);
  });

  test('of all in the slice while the dispatch is held: they end, and none asks', async () => {
    const world = new ChunkRunWorld();
    world.hold('template:order_update/en_US', '132015', startMs - 3_600_000);
    await stop(world, [0, 1]);
    await world.work([marketing(2)]);
    expect([endings(world, 2), world.posted, world.count('askHolds')]).toEqual([['opted_out', 'opted_out'], [], 0]);
  });

  test('no recipient is called while opt-outs cannot be read, and all are called later', async () => {
    const world = new ChunkRunWorld();
    await stop(world, [0]);
    world.faultOf = (name) => (name === 'stoppedAmong' ? 'fails' : undefined);
    await world.work([marketing(2)]);
    expect([endings(world, 2), world.posted, world.facts('send.opt_outs_not_read')]).toEqual([
      ['again', 'again'],
      [],
      [{ error: 'Error' }],
    ]);
    world.faultOf = () => undefined;
    const [again] = world.requeued;
    await world.wait(1_000 * (again?.delaySeconds ?? 0));
    await world.workAll(again?.chunk ?? marketing(0));
    expect(endings(world, 2)).toEqual(['opted_out', 'sent']);
  });
});

describe('what the platform answers of people is told', () => {
  const refusal = new PlatformFailure('refused', { code: 131050 });
  const told = (...words: InboundMessage['words']) => ({ wabaId, phoneNumberId, words });

  test('131050, with the time of the claim, also when the delivery comes again', async () => {
    const world = new ChunkRunWorld();
    world.send = async (_, index) => {
      if (index > 0) throw refusal;
      return {};
    };
    const chunk = marketing(3);
    world.faultOf = (name) => (name === 'sendInbound' ? 'fails' : undefined);
    await world.work([chunk]);
    const atMs = world.table.find({ dispatchId: 'J', slice: 0 })?.atMs;
    // No event was sent yet, so the whole chunk comes again.
    expect([world.requeued.map((later) => later.chunk.slices), world.events.sent]).toEqual([[chunk.slices], []]);
    world.faultOf = () => undefined;
    await world.wait(60_000);
    for (const _ of [1, 2]) expect(await world.work([chunk])).toEqual([]);
    const words = [1, 2].map((index) => {
      const recipients = [numberAt(index)];
      return { kind: 'refused' as const, clientId, recipients, atMs: Number(atMs) };
    });
    expect(world.inbound.sent).toEqual([told(...words), told(...words)]);
    expect(world.posted).toHaveLength(3);
  });

  test('not of messages that ask for no opt-outs', async () => {
    const world = new ChunkRunWorld();
    world.send = async () => {
      throw refusal;
    };
    await world.work([chunkOf(slicesOf(2))]);
    expect([endings(world, 2), world.inbound.sent]).toEqual([['131050', '131050'], []]);
  });

  test('a number that the platform spells in another way, once for a chunk, and where no rule says so', async () => {
    const world = new ChunkRunWorld();
    const spelled = ['541100000000', '5491100000001', '0015550001', undefined];
    world.send = async (_, index) => {
      const waId = spelled[index];
      return waId === undefined ? {} : { waId };
    };
    await world.work([marketing(4)]);
    const atMs = Number(world.table.find({ dispatchId: 'J', slice: 0 })?.atMs);
    const word = { kind: 'respelled' as const, recipients: [numberAt(2), '0015550001'], atMs };
    expect(world.inbound.sent).toEqual([told(word)]);
    // A word under one name counts under both from then on.
    await say(world, ['0015550001']);
    await recordIdChange({ ...word, old: [] }, world.optOuts.writer());
    const recipients = [recipientAt(0, { to: numberAt(2) })];
    await world.work([marketing(0, { dispatchId: 'L', slices: [{ try: 0, size: 1, recipients }] })]);
    expect(world.outcome(0, 'L')).toMatchObject({ state: 'failed', code: 'opted_out' });
  });
});
