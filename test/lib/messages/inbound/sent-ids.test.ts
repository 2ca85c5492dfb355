import { expect, test } from 'vitest';
import { type KeepSentIds, type NoteSentPorts, noteSentOf } from '../../../../lib/messages/inbound/sent-ids.ts';
import type { EventType } from '../../../../lib/webhooks/event.ts';

const number = { wabaId: '200000000000001', phoneNumberId: '300000000000001' };
const callFacts = { ...number, dispatchId: 'J', clientId: 1_001, acceptedAtMs: 1_000 };
const ending = (index: number, state: string, platformMessageId?: string) => ({
  recipient: { index },
  outcome: { state, platformMessageId },
});

function noting(wishes: Readonly<Record<number, readonly EventType[]>>, changes: Partial<NoteSentPorts> = {}) {
  const kept: Parameters<KeepSentIds>[] = [];
  const asked: number[] = [];
  const logged: unknown[] = [];
  const clock = { nowMs: 0 };
  const note = noteSentOf({
    wanted: async (clientId) => {
      asked.push(clientId);
      return new Set(wishes[clientId] ?? []);
    },
    keep: async (...call) => void kept.push(call),
    nowMs: () => clock.nowMs,
    log: (...line) => void logged.push(line),
    ...changes,
  });
  return { note, kept, asked, logged, clock };
}

test('what the platform calls the messages that it took, with their number; of the others nothing', async () => {
  const { note, kept } = noting({ 1001: ['message.failed', 'message.replied'] });
  await note(callFacts, [
    ending(0, 'sent', 'wamid.0'),
    ending(1, 'failed'),
    ending(2, 'sent'),
    ending(3, 'sent', 'wamid.3'),
  ]);
  const of = { ...number, dispatchId: 'J' };
  expect(kept).toEqual([
    [
      [
        { ...of, index: 0, platformMessageId: 'wamid.0' },
        { ...of, index: 3, platformMessageId: 'wamid.3' },
      ],
      1 + 30 * 86_400,
    ],
  ]);
});

test('nothing for a client that does not ask for answers, and no question where nothing was sent', async () => {
  const { note, kept, asked } = noting({ 1002: ['message.replied'] });
  await note(callFacts, [ending(0, 'failed')]);
  expect(asked).toEqual([]);
  await note(callFacts, [ending(0, 'sent', 'wamid.0')]);
  expect([kept, asked]).toEqual([[], [1_001]]);
});

test('of messages that heed opt-outs always, because a stop may answer them (D55)', async () => {
  const { note, kept, asked } = noting({});
  await note({ ...callFacts, heedsOptOuts: true }, [ending(0, 'sent', 'wamid.0')]);
  expect([kept.length, asked]).toEqual([1, []]);
});

test('each client is asked about once in a minute; what it wants counts within that', async () => {
  const wishes: Record<number, EventType[]> = { 1001: [], 1002: ['message.replied'] };
  const { note, kept, asked, clock } = noting(wishes);
  const sent = [ending(0, 'sent', 'wamid.0')];
  await note(callFacts, sent);
  await note({ ...callFacts, clientId: 1_002 }, sent);
  wishes[1_001] = ['message.replied'];
  clock.nowMs = 59_999;
  await note(callFacts, sent);
  expect([kept.length, asked]).toEqual([1, [1_001, 1_002]]);
  clock.nowMs = 60_000;
  await note(callFacts, sent);
  expect([kept.length, asked]).toEqual([2, [1_001, 1_002, 1_001]]);
});

test('a wish that cannot be read counts as one, is not remembered, and is logged', async () => {
  const wanted = () => Promise.reject(new Error('away'));
  const { note, kept, logged } = noting({}, { wanted });
  await note(callFacts, [ending(0, 'sent', 'wamid.0')]);
  await note(callFacts, [ending(1, 'sent', 'wamid.1')]);
  expect(kept).toHaveLength(2);
  expect(logged).toEqual(Array(2).fill(['event.wanted_not_read', { clientId: 1_001, error: 'Error' }]));
});

test('an index that cannot be written is told, so that the delivery comes again', async () => {
  const { note } = noting({ 1001: ['message.replied'] }, { keep: () => Promise.reject(new Error('away')) });
  await expect(note(callFacts, [ending(0, 'sent', 'wamid.0')])).rejects.toThrow('away');
});
