import { expect, test } from 'vitest';
import { type NotifiedChange, optOutEvent } from '../../../lib/opt-outs/opt-out-event.ts';

const atMs = Date.UTC(2026, 10, 21, 4);
const told: NotifiedChange = {
  clientId: 1001,
  recipients: ['5491155550001', 'AR.1', 'AR.ENT.1'],
  did: '5491100000001',
  scope: { kind: 'client', clientId: 1001 },
  word: { says: 'stopped', atMs, source: 'reply' },
};

test('a stop is told with number and user id, scope, source and time (D55)', () => {
  const answered = { dispatchId: 'J', messageId: 'J-7' };
  expect(optOutEvent({ ...told, answered })).toEqual({
    id: expect.stringMatching(/^evt_/),
    ...{ clientId: 1001, type: 'recipient.opted_out', timestampMs: atMs },
    data: {
      ...{ recipient: '5491155550001', user_id: 'AR.1', did: '5491100000001', scope: 'client', source: 'reply' },
      ...{ at: '2026-11-21T04:00:00.000Z', dispatch_id: 'J', message_id: 'J-7' },
    },
  });
});

test('the event names a listed person by user id, with the number beside it', () => {
  const { data } = optOutEvent({ ...told, recipients: ['AR.1', '5491155550001'], did: undefined });
  expect(data).toMatchObject({ recipient: 'AR.1', wa_id: '5491155550001' });
  expect(data).not.toMatchObject({ did: expect.anything() });
});

test('a word is one event, however often it is told, and another word is another', () => {
  const { word } = told;
  const others: NotifiedChange[] = [
    { ...told, clientId: 1002 },
    { ...told, recipients: ['5491155550002'] },
    { ...told, scope: { kind: 'waba', wabaId: 'W' } },
    { ...told, word: { ...word, says: 'started' } },
    { ...told, word: { ...word, atMs: atMs + 1 } },
    { ...told, word: { ...word, source: 'api' } },
  ];
  expect(optOutEvent({ ...told, answered: { dispatchId: 'J', messageId: 'J-1' } }).id).toBe(optOutEvent(told).id);
  expect(new Set([told, ...others].map((each) => optOutEvent(each).id)).size).toBe(7);
});
