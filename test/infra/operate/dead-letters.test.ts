import { describe, expect, test } from 'vitest';
import { queuePurposes } from '../../../infra/names.ts';
import { judgeLetter } from '../../../infra/operate/send/dead-letters.ts';
import type { QueueName } from '../../../infra/queues.ts';
import { encodeSmallRequest } from '../../../lib/messages/dispatch/small-request-message.ts';
import { encodeWake } from '../../../lib/webhooks/delivery/pending.ts';
import { makeEvent } from '../../support/delivery-world.ts';
import { makeDispatch, makeRecipients } from '../../support/made-dispatches.ts';

const day = 86_400_000;
const { acceptedAtMs, dispatchId } = makeDispatch([]).head;
const request = (changes: Parameters<typeof makeDispatch>[1] = {}) =>
  encodeSmallRequest({ ...makeDispatch(makeRecipients(2), changes), limitPerSecond: 80 });

describe('a small request', () => {
  test.each<[string, object, number, string, string]>([
    ['that may still leave goes again: claims outlive it', {}, 14 * day, 'again', 'may still leave'],
    [
      'whose time is over goes again, and calls no recipient',
      { expiresAtMs: acceptedAtMs + day },
      2 * day,
      'again',
      'too late',
    ],
    ['later than the last call goes again, and calls no recipient', {}, 29 * day, 'again', 'too late'],
    ['of a dispatch that is forgotten stays: its claims may be gone', {}, 30 * day, 'stays', 'forgotten'],
    [
      'of a dispatch that is kept longer goes again (D56)',
      { keptUntilMs: acceptedAtMs + 90 * day },
      31 * day,
      'again',
      'may still leave',
    ],
  ])('%s', (_, changes, ageMs, verdict, text) => {
    for (const queue of ['urgent'] as const) {
      expect(judgeLetter(queue, request(changes), acceptedAtMs + ageMs)).toEqual({
        ...{
          verdict,
          text: expect.stringContaining(text),
          messages: { dispatchId, indexes: [0, 1] },
        },
      });
    }
  });
});

test('events and calls to look are told apart', () => {
  expect(judgeLetter('events', encodeWake(1001), 0).text).toContain('calls to look');
  expect(judgeLetter('events', JSON.stringify({ version: 1, ...makeEvent(1001) }), 0).text).toContain('events:');
});

test.each(Object.keys(queuePurposes) as QueueName[])(
  'of %s: what is unreadable, or of a later version, stays',
  (queue) => {
    expect(judgeLetter(queue, 'no json', 0)).toMatchObject({
      verdict: 'stays',
      text: expect.stringContaining('not readable'),
    });
    expect(judgeLetter(queue, '{}', 0).verdict).toBe('stays');
  },
);

test('a later version is named', () => {
  for (const queue of Object.keys(queuePurposes) as QueueName[]) {
    expect(judgeLetter(queue, '{"version":99}', 0), queue).toMatchObject({
      verdict: 'stays',
      text: expect.stringContaining('D47'),
    });
  }
});

const dispatch = { dispatchId: 'j', clientId: 1001, acceptedAtMs };
test.each<[QueueName, string, object]>([
  ['receipts', 'again', { numbers: [] }],
  ['inbound', 'again', { wabaId: '2', phoneNumberId: '3', words: [] }],
  ['counts', 'again', { kind: 'count', ...dispatch, dueMs: 1 }],
  ['sync', 'useless', { walk: { id: 'w', turn: 1, after: 0 } }],
  ['hints', 'useless', { wabaId: '2', templateIds: [], numbers: true }],
])('%s: %s, and a message without its fields stays', (queue, verdict, message) => {
  expect(judgeLetter(queue, JSON.stringify({ version: 1, ...message }), 0).verdict).toBe(verdict);
  expect(judgeLetter(queue, '{"version":1}', 0).verdict).toBe('stays');
});
