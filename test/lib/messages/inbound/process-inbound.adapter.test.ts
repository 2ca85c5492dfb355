import { beforeEach, describe, expect, test } from 'vitest';
import { processInbound } from '../../../../lib/messages/inbound/process-inbound.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../../support/directory.ts';
import { makeDispatch } from '../../../support/made-dispatches.ts';
import {
  answers,
  atMs,
  did,
  freshWorld,
  hear,
  hearing,
  listOf,
  phoneNumberId,
  preference,
  recordOf,
  replies,
  said,
  stopOf,
  told,
  toldTo,
  userId,
  wabaId,
  waId,
  world,
  wrote,
} from './inbound-world.ts';

beforeEach(freshWorld);

describe("the platform's own stop (D55)", () => {
  test('counts for the number, is told and listed', async () => {
    expect(await hear([preference('stop', { person: { waId, userId } })])).toEqual([]);
    const data = { recipient: waId, user_id: userId, did, scope: 'number', source: 'platform' };
    expect(told()).toEqual([
      {
        ...{ clientId: 1001, type: 'recipient.opted_out' },
        data: { ...data, at: '2027-01-15T08:00:00.000Z' },
      },
    ]);
    // Each client of the number meets the stop, under both names of the person.
    expect([await stopOf(1001), await stopOf(1002), await stopOf(1001, userId)]).toEqual(Array(3).fill('platform'));
    expect(await stopOf(1001, waId, { wabaId, phoneNumberId: '300000000000002' })).toBeUndefined();
    expect((await listOf(1001)).sort()).toEqual([waId, userId]);
    expect(await listOf(1002)).toEqual([]);
    expect(replies()).toEqual([]);
  });

  test('counts for the WABA where the operator has widened it, and ends there by a resume', async () => {
    world.waba = makeWaba({ clientIds: [1001], platformStops: 'waba' });
    const elsewhere = { wabaId, phoneNumberId: '300000000000002' };
    await hear([preference('stop')]);
    expect([await stopOf(1001), await stopOf(1001, waId, elsewhere)]).toEqual(['platform', 'platform']);
    await hear([preference('resume', { atMs: atMs + 10_000, receivedAtMs: atMs + 10_000 })]);
    expect([await stopOf(1001), await stopOf(1001, waId, elsewhere)]).toEqual([undefined, undefined]);
    expect(told().map(({ type, data }) => [type, (data as { scope: string }).scope])).toEqual([
      ['recipient.opted_out', 'waba'],
      ['recipient.opted_in', 'waba'],
    ]);
  });

  test('leaves no stop of the WABA behind where the operator has taken the widening back', async () => {
    world.waba = makeWaba({ platformStops: 'waba' });
    await hear([preference('stop')]);
    world.waba = makeWaba();
    await hear([preference('resume', { atMs: atMs + 10_000, receivedAtMs: atMs + 10_000 })]);
    expect(await stopOf(1001)).toBeUndefined();
  });

  test('is the same event, however often and in whatever message it comes', async () => {
    await hear([preference('stop'), preference('stop')]);
    await hear([preference('stop')]);
    expect(toldTo()).toEqual([[1001, 'recipient.opted_out']]);
  });

  test('stands against a resume that was said before it and comes later, and sends no event', async () => {
    await hear([preference('stop')]);
    await hear([preference('resume', { atMs: atMs - 1_000 })]);
    await hear([preference('resume')]);
    expect(await stopOf(1001)).toBe('platform');
    expect(toldTo()).toEqual([[1001, 'recipient.opted_out']]);
  });

  test('counts from its arrival where its time cannot be read; such a resume says nothing', async () => {
    const { atMs: _, ...timeless } = said;
    await hear([{ kind: 'preference', ...timeless, says: 'stop' }]);
    await hear([{ kind: 'preference', ...timeless, receivedAtMs: atMs + 60_000, says: 'resume' }]);
    expect(await stopOf(1001)).toBe('platform');
    expect(told()).toMatchObject([{ data: { at: '2027-01-15T08:00:00.900Z' } }]);
  });

  test.each([
    ['that no client has', { wabaId, phoneNumberId: '399' }],
    ['of another WABA', { wabaId: '299', phoneNumberId }],
  ])('of a number %s is kept, and no event is sent', async (_, of) => {
    const words = [preference('stop'), wrote('BAJA')];
    expect(await processInbound([recordOf(words, of)], hearing())).toEqual([]);
    expect(await stopOf(1001, waId, of)).toBe('platform');
    expect([world.events.sent, await listOf(1001)]).toEqual([[], []]);
  });

  test('of a number that has gone to another WABA since sends no event to the clients of that one', async () => {
    const moved = makeChannel({ wabaId: '299', clientId: 1003 });
    const directory = memoryDirectory({ wabas: [makeWaba({ wabaId: '299' })], channels: [moved] });
    expect(await hear([preference('stop'), wrote('BAJA')], { directory })).toEqual([]);
    expect([world.events.sent, await listOf(1003)]).toEqual([[], []]);
  });
});

describe('a reply (D55)', () => {
  test.each<[string, object, string | undefined]>([
    ['a word', { reply: { by: 'text', text: ' ¡Baja! ' } }, 'reply'],
    ['a word in a thread of another app', { reply: { by: 'text', text: 'STOP' }, standby: true }, 'reply'],
    ['the button against marketing', { reply: { by: 'quick_reply', text: 'Stop promotions' } }, 'quick_reply'],
    ['a word in a sentence', { reply: { by: 'text', text: 'do not stop' } }, undefined],
    ['a button with such a word', { reply: { by: 'quick_reply', text: 'Cancel', payload: 'p' } }, undefined],
  ])('%s', async (_, of, source) => {
    expect(await hear([wrote('', of)])).toEqual([]);
    expect(await stopOf(1001)).toBe(source);
    expect(told().map(({ data }) => data)).toMatchObject(
      source === undefined ? [] : [{ scope: 'client', source, did }],
    );
    expect(replies()).toMatchObject([{ clientId: 1001 }]);
  });

  test('to a message counts for its client alone, and names it', async () => {
    world.waba = makeWaba();
    answers(1002);
    await hear([wrote('STOP')]);
    expect(told()).toMatchObject([{ clientId: 1002, data: { dispatch_id: 'J', message_id: 'J-7', scope: 'client' } }]);
    expect([await stopOf(1001), await stopOf(1002)]).toEqual([undefined, 'reply']);
    expect(replies()).toEqual([{ clientId: 1002, text: 'STOP', message_id: 'J-7' }]);
    expect([await listOf(1001), await listOf(1002)]).toEqual([[], [waId]]);
  });

  describe('by a user id alone', () => {
    const alone = { person: { userId } };
    beforeEach(() => {
      answers(1002);
      world.addressOfAnswered = `+${waId}`;
    });

    test('to a message joins it with the number that the message went to', async () => {
      await hear([wrote('STOP', alone)]);
      expect([await stopOf(1002), await stopOf(1002, userId), await stopOf(1001)]).toEqual([
        'reply',
        'reply',
        undefined,
      ]);
      expect(told()).toMatchObject([{ clientId: 1002, data: { recipient: waId, user_id: userId } }]);
      expect((await listOf(1002)).sort()).toEqual([waId, userId]);
    });

    test('to a message, with no such word, joins both: what the person said before counts for the number', async () => {
      const message = world.answered;
      world.answered = undefined;
      await hear([wrote('STOP', alone)]);
      expect(await stopOf(1001)).toBeUndefined();
      world.answered = message;
      await hear([wrote('thanks', alone)]);
      expect(await stopOf(1001)).toBe('reply');
    });

    test.each([
      ['went to a user id', 'AR.2', alone],
      ['has lost its recipient (D60)', undefined, alone],
      ['went to another number than the one that is told', '5491155550009', { person: { waId, userId } }],
    ])('to a message that %s joins nothing', async (_, to, by) => {
      world.addressOfAnswered = to;
      await hear([wrote('STOP', by)]);
      expect(await stopOf(1002, userId)).toBe('reply');
      expect(await stopOf(1002, to ?? waId)).toBeUndefined();
    });
  });

  test('to a message of another number is none to it, whatever its payload says', async () => {
    const { head } = makeDispatch([{ to: waId }], { dispatchId: 'J', clientId: 1002, wabaId, phoneNumberId: '399' });
    world.answered = { head, index: 7 };
    await hear([wrote('STOP')]);
    expect(toldTo()).toEqual([[1001, 'recipient.opted_out']]);
    expect(replies()).toEqual([{ clientId: 1001, text: 'STOP', message_id: undefined }]);
  });
});

describe('without a message that it answers, on a number that clients share (D55)', () => {
  const stops = async () => [await stopOf(1001), await stopOf(1002)];
  const later = (ms: number) => ({ atMs: atMs + ms, receivedAtMs: atMs + ms });
  beforeEach(() => {
    world.waba = makeWaba();
  });

  test('a word ends by a start word also where one client has the number for itself since', async () => {
    await hear([wrote('STOP')]);
    expect(await stopOf(1001, waId, { wabaId, phoneNumberId: '300000000000002' })).toBeUndefined();
    world.waba = makeWaba({ clientIds: [1002] });
    await hear([wrote('START', later(1_000))]);
    expect(await stops()).toEqual([undefined, undefined]);
    expect(toldTo()).toEqual([[1002, 'recipient.opted_in']]);
  });

  test.each([
    ['of a WABA that keeps its numbers apart are those of its client', { dids: 'own' as const }, 1001],
    ['of a WABA with one client are those of that client', { clientIds: [1002] }, 1002],
  ])('words and texts %s', async (_, of, clientId) => {
    world.waba = makeWaba(of);
    await hear([wrote('STOP')]);
    expect(toldTo()).toEqual([[clientId, 'recipient.opted_out']]);
    expect(replies()).toEqual([{ clientId, text: 'STOP', message_id: undefined }]);
    expect((await stops()).filter((stop) => stop !== undefined)).toEqual(['reply']);
  });
});

test('words are those of the list as it is now', async () => {
  const words = async () => ({ stop: ['hasta nunca'], start: [], stopButtons: [] });
  await hear([wrote('STOP')], { words });
  expect(await stopOf(1001)).toBeUndefined();
  await hear([wrote('¡Hasta nunca!')], { words });
  expect(await stopOf(1001)).toBe('reply');
});
