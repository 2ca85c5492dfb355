import { describe, expect, test } from 'vitest';
import { madeMarketing } from '../../../../lib/messages/holds/hold.ts';
import type { InboundMessage } from '../../../../lib/messages/inbound/inbound-message.ts';
import type { OptOutChange } from '../../../../lib/opt-outs/entry.ts';
import { recordIdChange, recordOptOut } from '../../../../lib/opt-outs/record-opt-out.ts';
import type { Scope } from '../../../../lib/opt-outs/scope.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import {
  clientId,
  numberAt,
  phoneNumberId,
  recipientOf,
  SliceRunWorld,
  startMs,
  templateScope,
  wabaId,
} from './slice-run-world.ts';

/**
 * Opted-out persons are not called (D55): a slice's run reads opt-outs after the claim, and learns of others from
 * answers.
 */

const ofClient: Scope = { kind: 'client', clientId };
const ofNumber: Scope = { kind: 'number', wabaId, phoneNumberId };
const stopped: OptOutChange = { says: 'stopped', atMs: startMs, source: 'reply' };

function marketing(size: number, changes: Parameters<SliceRunWorld['accept']>[1] = {}): SliceRunWorld {
  const world = new SliceRunWorld();
  world.accept(size, { heedsOptOuts: true, ...changes });
  return world;
}

async function say(world: SliceRunWorld, recipients: readonly string[], scope = ofClient, word = stopped) {
  await recordOptOut({ scope, recipients, word }, world.optOuts.writer());
}

async function stop(world: SliceRunWorld, ...indexes: readonly number[]): Promise<void> {
  for (const index of indexes) await say(world, [numberAt(index)]);
}

test('a slice is claimed, marks are read with its dispatch, people in one request more, and the others are called', async () => {
  const world = marketing(3);
  await stop(world, 1);
  await world.run();
  const calls = world.calls.filter((call) => !call.startsWith('find'));
  expect(calls).toEqual(['claimSlice', 'look', 'stoppedAmong', 'endSlice', 'sendEvents']);
  expect(world.outcomes(3)).toEqual(['sent', 'opted_out', 'sent']);
  expect(world.events.sent).toMatchObject([{ type: 'message.failed', data: { message_id: 'J-1', code: 'opted_out' } }]);
});

test('lookups of opt-outs: at most one request for ten, and without any opt-out none', async () => {
  const world = marketing(30);
  await world.run();
  expect(world.count('stoppedAmong')).toBe(0);
  await say(world, ['15550000000']);
  world.accept(1_000, { dispatchId: 'K', heedsOptOuts: true });
  await world.run('K');
  expect([world.posted.length, world.count('stoppedAmong')]).toEqual([1_030, 100]);
});

describe('who is stopped', () => {
  test.each<[string, Scope, object, string]>([
    ['by the client', ofClient, {}, 'opted_out'],
    ['by another client', { kind: 'client', clientId: 7 }, {}, 'sent'],
    ['on the number, whichever client sends', ofNumber, { clientId: 7 }, 'opted_out'],
    ['on another number of the WABA', { ...ofNumber, phoneNumberId: '9' }, {}, 'sent'],
    ['in the WABA', { kind: 'waba', wabaId }, {}, 'opted_out'],
    ['whose messages ask for no opt-outs', ofClient, { heedsOptOuts: undefined }, 'sent'],
  ])('%s: %s', async (_, scope, changes, ending) => {
    const world = marketing(1, changes);
    await say(world, [numberAt(0)], scope);
    await world.run();
    expect([world.outcomes(1), world.posted.length]).toEqual([[ending], ending === 'sent' ? 1 : 0]);
  });

  test.each([
    ['with a plus', '+5491100000000', ['5491100000000']],
    ['by user id, with a known number', 'US.1', ['5491100000000', 'US.1']],
    ['by number, with a known user id', '5491100000000', ['5491100000000', 'US.1']],
    ['without the 9 of Argentina', '541100000000', ['5491100000000']],
  ])('sent to %s', async (_, to, recipients) => {
    const world = marketing(2, { recipients: { 0: recipientOf(to) } });
    await say(world, recipients);
    await world.run();
    expect(world.outcomes(2)).toEqual(['opted_out', 'sent']);
  });

  test('of UTILITY that the platform has called MARKETING since: those as well (D42)', async () => {
    const world = marketing(2, { category: 'UTILITY', heedsOptOuts: undefined });
    await stop(world, 1);
    world.rule(madeMarketing(templateScope, world.nowMs));
    await world.run();
    expect(world.outcomes(2)).toEqual(['sent', 'opted_out']);
  });
});

describe('a stop', () => {
  test('between claim and call goes its way, and is heard by the next try', async () => {
    const world = marketing(3);
    world.send = async (_, index) => {
      if (index === 0) await stop(world, 1, 2);
      if (index === 2) throw new PlatformFailure('refused', { code: 130429, retryAfterSeconds: 30 });
      return {};
    };
    await world.runAll();
    expect([world.outcomes(3), world.posted.length]).toEqual([['sent', 'sent', 'opted_out'], 3]);
  });

  test('is heard by a repeat of the same try that comes more than five seconds after its look', async () => {
    const world = marketing(1);
    world.send = async () => {
      if (world.nowMs > startMs) await stop(world, 0);
      throw new PlatformFailure('refused', { code: 130429 });
    };
    await world.run();
    // Calls after 0, 1 and 3 s; the next would be after 7 s.
    expect([world.outcomes(1), world.posted.length]).toEqual([['opted_out'], 3]);
  });

  test('of a person who starts again later is over', async () => {
    const world = marketing(1);
    await stop(world, 0);
    await say(world, [numberAt(0)], ofClient, { ...stopped, says: 'started', atMs: startMs + 1 });
    await world.run();
    expect(world.outcomes(1)).toEqual(['sent']);
  });

  test('while the dispatch is held: the next in the slice asks whether it still is (D46); where none is left, none asks', async () => {
    const world = marketing(3);
    world.hold(templateScope, '132015', startMs - 3_600_000);
    await stop(world, 0);
    await world.run();
    expect([world.outcomes(3), world.posted.map(({ index }) => index)]).toEqual([['opted_out', 'sent', 'again'], [1]]);
    const all = marketing(1);
    all.hold(templateScope, '132015', startMs - 3_600_000);
    await stop(all, 0);
    await all.run();
    expect([all.outcomes(1), all.count('askHolds')]).toEqual([['opted_out'], 0]);
  });

  test('no recipient is called while opt-outs cannot be read, and all are called later', async () => {
    const world = marketing(2);
    await stop(world, 0);
    world.faultOf = (name) => (name === 'stoppedAmong' ? 'fails' : undefined);
    await world.run();
    expect([world.outcomes(2), world.posted]).toEqual([['again', 'again'], []]);
    expect(world.facts('send.dispatch_not_read')).toEqual([{ error: 'Error' }]);
    world.faultOf = () => undefined;
    await world.runAll();
    expect(world.outcomes(2)).toEqual(['opted_out', 'sent']);
  });
});

describe('what the platform answers of people is told', () => {
  const refusal = new PlatformFailure('refused', { code: 131050 });
  const told = (...words: InboundMessage['words']) => ({ wabaId, phoneNumberId, words });

  test('131050, with the time of the claim, also when it is told again', async () => {
    const world = marketing(3);
    world.send = async (_, index) => (index > 0 ? Promise.reject(refusal) : {});
    world.faultOf = (name) => (name === 'sendInbound' ? 'fails' : undefined);
    expect(await world.run()).toMatchObject([{ isTold: false }]);
    expect(world.events.sent).toEqual([]);
    world.faultOf = () => undefined;
    await world.wait(60_000);
    for (const _ of [1, 2]) expect(await world.run()).toMatchObject([{ isTold: true }]);
    const words = [1, 2].map((index) => {
      return { kind: 'refused' as const, clientId, recipients: [numberAt(index)], atMs: startMs };
    });
    expect(world.inbound.sent).toEqual([told(...words), told(...words)]);
    expect(world.posted).toHaveLength(3);
  });

  test('not of messages that ask for no opt-outs', async () => {
    const world = marketing(2, { heedsOptOuts: undefined });
    world.send = async () => Promise.reject(refusal);
    await world.run();
    expect([world.outcomes(2), world.inbound.sent]).toEqual([['131050', '131050'], []]);
  });

  test('a number that the platform spells in another way, and where no rule says so', async () => {
    const world = marketing(4);
    const spelled = ['541100000000', '5491100000001', '0015550001', undefined];
    world.send = async (_, index) => {
      const waId = spelled[index];
      return waId === undefined ? {} : { waId };
    };
    await world.run();
    const word = { kind: 'respelled' as const, recipients: [numberAt(2), '0015550001'], atMs: startMs };
    expect(world.inbound.sent).toEqual([told(word)]);
    // A word under one name counts under both from then on.
    await say(world, ['0015550001']);
    await recordIdChange({ ...word, old: [] }, world.optOuts.writer());
    world.accept(1, { dispatchId: 'L', heedsOptOuts: true, recipients: { 0: recipientOf(numberAt(2)) } });
    await world.run('L');
    expect(world.outcomes(1, 'L')).toEqual(['opted_out']);
  });
});
