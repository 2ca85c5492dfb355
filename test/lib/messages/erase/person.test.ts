import { describe, expect, test } from 'vitest';
import { anonymizedEvent } from '../../../../lib/messages/erase/anonymized-event.ts';
import { isOf, spells, without } from '../../../../lib/messages/erase/person.ts';

const [number, userId] = ['5491155550001', 'AR.1349ab'];
const ids = new Set([number, userId]);

test.each([
  [number, true],
  [`+${number}`, true],
  [userId, true],
  ['AR.1349AB', false],
  [`${number}2`, false],
  [undefined, false],
])('%s is the person: %s (D24)', (address, is) => {
  expect(isOf(ids, address)).toBe(is);
});

test.each([
  [`to +${number}.`, true, 'to +(erased).'],
  [`"${number}","${userId}"`, true, '"(erased)","(erased)"'],
  [`2${number}, ${number}1 and ${userId}c`, false, `2${number}, ${number}1 and ${userId}c`],
  [`${number}1 and ${number}`, true, `${number}1 and (erased)`],
])('%s spells the person: %s', (text, is, rest) => {
  expect([spells(ids, text), without(ids, text, '(erased)')]).toEqual([is, rest]);
});

describe('an event (D60)', () => {
  const about = {
    ...{ dispatch_id: 'J', message_id: 'J-0', did: '5491100000001', template: { name: 'a', language: 'es' } },
    accepted_at: '2026-11-20T12:00:00.000Z',
  };
  const event = { id: `evt_${'a'.repeat(26)}`, clientId: 1001, timestampMs: 1 };
  const left = (type: string, data: object) => {
    const erased = anonymizedEvent(JSON.stringify({ ...event, type, data: { ...about, ...data } }), ids);
    return typeof erased === 'object' ? JSON.parse(erased.event).data : erased;
  };

  test('about another is as it was', () => {
    expect(left('message.read', { to: `${number}1` })).toBeUndefined();
  });

  test('about a message says how it ended, and names no person', () => {
    const told = { to: number, user_id: userId, wa_id: number, reason: 'x', platform_message_id: 'wamid.1', code: '1' };
    expect(left('message.failed', told)).toEqual({ ...about, code: '1' });
  });

  test.each(['message.replied', 'recipient.opted_out'])('that is nothing without the person is gone: %s', (type) => {
    expect(left(type, { to: number, text: 'I am at home' })).toBe('gone');
  });

  test('about a dispatch loses what the client has attached to it', () => {
    const data = { scope: 'number', code: '131048', parked_at: about.accepted_at, expires_at: about.accepted_at };
    const { message_id: _none, ...ofDispatch } = about;
    const text = JSON.stringify({
      ...event,
      type: 'dispatch.parked',
      data: { ...ofDispatch, ...data, attends: { tel: number } },
    });
    const erased = anonymizedEvent(text, ids);
    expect(typeof erased === 'object' && JSON.parse(erased.event).data).toEqual({ ...ofDispatch, ...data });
  });
});
