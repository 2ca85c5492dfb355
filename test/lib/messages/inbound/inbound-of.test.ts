import { expect, test } from 'vitest';
import { queueBody, queueMessageMaxBytes } from '../../../../lib/aws/queue-body.ts';
import { inboundOf } from '../../../../lib/messages/inbound/inbound-of.ts';
import type { PersonUpdate } from '../../../../lib/platform/webhook/person-updates.ts';

const receivedAtMs = 9_000;
const said = { wabaId: '11', phoneNumberId: '31', person: { waId: '16505551234', username: 'sheena' } } as const;
const stop: PersonUpdate = { ...said, kind: 'preference', says: 'stop', atMs: 5_000 };

test('words are queued by number, without the name that the person has chosen', () => {
  const changed = { ...said, kind: 'number_changed', old: { waId: '16505550000' } } as const;
  const reply = { ...said, phoneNumberId: '32', kind: 'reply', reply: { by: 'text', text: 'BAJA' } } as const;
  const queued = inboundOf([stop, reply, changed, { ...stop, wabaId: '12' }], receivedAtMs);
  const person = { waId: '16505551234' };
  const stopped = { kind: 'preference', person, receivedAtMs, atMs: 5_000, says: 'stop' };
  expect(queued).toEqual([
    {
      ...{ wabaId: '11', phoneNumberId: '31' },
      words: [stopped, { kind: 'id_changed', person, receivedAtMs, old: { waId: '16505550000' } }],
    },
    {
      ...{ wabaId: '11', phoneNumberId: '32' },
      words: [{ kind: 'reply', person, receivedAtMs, reply: { by: 'text', text: 'BAJA' } }],
    },
    { wabaId: '12', phoneNumberId: '31', words: [stopped] },
  ]);
});

test('fifty of the longest replies fit a queue message', () => {
  const reply = {
    by: 'flow',
    text: '☃'.repeat(1_000),
    payload: '☃'.repeat(1_000),
    toMessageId: 'w'.repeat(256),
  } as const;
  const longest: PersonUpdate = { ...said, kind: 'reply', messageId: 'w'.repeat(256), reply };
  const [message] = inboundOf(Array(50).fill(longest), receivedAtMs);
  expect(queueBody({ version: 1, ...message }).length).toBeLessThan(queueMessageMaxBytes / 2);
});
