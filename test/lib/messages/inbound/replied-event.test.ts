import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { repliedToFinder } from '../../../../lib/messages/inbound/find-replied-to.ts';
import type { InboundUpdate } from '../../../../lib/messages/inbound/inbound-message.ts';
import { type NotifiedReply, repliedEvent } from '../../../../lib/messages/inbound/replied-event.ts';
import { replyPayload } from '../../../../lib/messages/reply-payload.ts';
import { composeMessage, compositionPlan } from '../../../../lib/messages/request/compose.ts';
import { parameterContract } from '../../../../lib/messages/request/parameter-contract.ts';
import { personUpdatesOf } from '../../../../lib/platform/webhook/person-updates.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { defaultEventTypes, ServiceEventSchema } from '../../../../lib/webhooks/event.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { sendable } from '../../../support/platform-templates.ts';

type Replied = Extract<InboundUpdate, { readonly kind: 'reply' }>;

const receivedAtMs = Date.UTC(2026, 10, 22, 10, 0, 5);
const head = makeDispatchHead({
  ...{ dispatchId: '01M80HXQNCYVAMMXGBXAHJWT8R', total: 100, acceptedAtMs: receivedAtMs - 60_000 },
  ...{ campaignId: 10, attends: { waitTime: 0 }, correlationId: 'c-1' },
});
const answered = { head, index: 7 };
const text: Replied = {
  ...{ kind: 'reply', person: { waId: '5491155550001', userId: 'AR.1' }, receivedAtMs, atMs: receivedAtMs - 2_000 },
  ...{ messageId: 'wamid.reply', reply: { by: 'text', text: 'When?', toMessageId: 'wamid.1' } },
};
const tapOn = (place: { button: number; card?: number }, label?: string): Replied => ({
  ...text,
  reply: {
    by: 'quick_reply',
    text: label,
    payload: replyPayload(`${head.dispatchId}-7`, place),
  },
});

/** Gives every variable of a test template a value. */
function paramsOf(template: PlatformTemplate) {
  const { buttons, body, cards } = parameterContract(template);
  const values = (list: readonly unknown[]) => list.map(() => 'A1');
  return {
    ...{ body: values(body.appearances), buttons: values(buttons) },
    cards: cards.map((card) => ({ body: values(card.body.appearances), buttons: values(card.buttons) })),
  };
}

function told(changes: Partial<NotifiedReply> = {}) {
  const event = repliedEvent({ word: text, did: '5491100000009', clientId: 1_009, answered, ...changes });
  if (event.type !== 'message.replied') throw new Error('an event about a reply');
  expect(v.parse(ServiceEventSchema, event)).toEqual(event);
  return event;
}

test('an answer is told with the message that it answers', () => {
  expect(told()).toEqual({
    ...{ id: expect.any(String), clientId: 1_009, type: 'message.replied', correlationId: 'c-1' },
    timestampMs: receivedAtMs - 2_000,
    data: {
      ...{ dispatch_id: head.dispatchId, message_id: `${head.dispatchId}-7`, did: head.did },
      ...{ from: '5491155550001', user_id: 'AR.1', template: { name: 'order_update', language: 'en_US' } },
      ...{ campaign_id: 10, attends: { waitTime: 0 }, by: 'text', text: 'When?' },
      ...{ platform_message_id: 'wamid.reply', replied_at: '2026-11-22T10:00:03.000Z' },
    },
  });
});

test('where nothing tells which message it answers, that is left out', () => {
  const { data } = told({ answered: undefined, word: { ...text, person: { userId: 'AR.1' } } });
  expect(data).toEqual({
    ...{ did: '5491100000009', user_id: 'AR.1', by: 'text', text: 'When?' },
    ...{ platform_message_id: 'wamid.reply', replied_at: '2026-11-22T10:00:03.000Z' },
  });
});

describe('what a person has said', () => {
  const said = (word: Replied, changes: Partial<NotifiedReply> = {}) => {
    const { text: what, button_index, card_index } = told({ word, ...changes }).data;
    return { text: what, button_index, card_index };
  };
  const none = { button_index: undefined, card_index: undefined };
  const reply = (of: Replied['reply']): Replied => ({ ...text, reply: of });

  test.each<[string, Replied, object]>([
    ['the label of a quick reply, and which it is', tapOn({ button: 1 }, 'More'), { text: 'More', button_index: 1 }],
    ['on a card', tapOn({ button: 0, card: 9 }, 'Buy'), { text: 'Buy', button_index: 0, card_index: 9 }],
    ['without a label, never the payload of the service', tapOn({ button: 1 }), { text: undefined, button_index: 1 }],
    ['a payload of others, where there is no label', reply({ by: 'quick_reply', payload: 'YES' }), { text: 'YES' }],
    ['the title of a row', reply({ by: 'list', text: 'Monday', payload: 'row-1' }), { text: 'Monday' }],
    ['the answers of a form', reply({ by: 'flow', text: 'Sent', payload: '{"size":"L"}' }), { text: '{"size":"L"}' }],
    ['a form without answers', reply({ by: 'flow', text: 'Sent' }), { text: 'Sent' }],
  ])('%s', (_, word, expected) => {
    expect(said(word)).toEqual({ ...none, text: undefined, ...expected });
  });

  test('a payload that names another message than the one found says nothing of a button', () => {
    expect(said(tapOn({ button: 1 }, 'More'), { answered: { head, index: 8 } })).toEqual({ ...none, text: 'More' });
    expect(said(tapOn({ button: 1 }, 'More'), { answered: undefined })).toEqual({ ...none, text: 'More' });
  });
});

test.each([
  ['of the template', sendable.mixedButtons, 0, { button_index: 0 }],
  ['on a card', sendable.carousel, 1, { button_index: 0, card_index: 1 }],
])(
  'the payload of a send, tapped and told by the platform, leads back to its message: %s',
  async (_, template, at, place) => {
    const request = composeMessage(
      compositionPlan(template, parameterContract(template), {}),
      { to: '5491155550001', params: paramsOf(template) },
      `${head.dispatchId}-7`,
    );
    const payloads = JSON.stringify(request).match(/tm1:[^"]+/g) ?? [];
    const contact = { wa_id: '5491155550001', user_id: 'AR.1' };
    const button = { text: 'Stop', payload: payloads[at] };
    const said = {
      from: '5491155550001',
      id: 'wamid.reply',
      timestamp: String(receivedAtMs / 1_000),
      type: 'button',
      button,
    };
    const value = {
      ...{ metadata: { phone_number_id: head.phoneNumberId } },
      ...{ contacts: [contact], messages: [said] },
    };
    const [word] = personUpdatesOf([{ wabaId: head.wabaId, field: 'messages', value }]).words;
    if (word?.kind !== 'reply') throw new Error('a reply');
    const find = repliedToFinder({
      findHeads: async () => new Map([[head.dispatchId, head]]),
      findSentId: async () => undefined,
    });
    const found = await find(word.reply, word);
    expect(found).toEqual({ head, index: 7 });
    const { data } = told({ word: { ...word, receivedAtMs }, answered: found });
    expect(data).toMatchObject({ message_id: `${head.dispatchId}-7`, by: 'quick_reply', text: 'Stop', ...place });
  },
);

describe('one reply is one event', () => {
  const ids = (...words: Replied[]) => new Set(words.map((word) => told({ word }).id)).size;

  test('by the name that the platform gives it, however often it is told', () => {
    expect(ids(text, { ...text, receivedAtMs: receivedAtMs + 60_000, standby: true })).toBe(1);
    expect(ids(text, { ...text, messageId: 'wamid.other' })).toBe(2);
  });

  test('without a name, by who said what, and when', () => {
    const { messageId: _unnamed, ...plain } = text;
    const other: Replied = { ...plain, reply: { by: 'text', text: 'Where?' } };
    const later: Replied = { ...plain, atMs: receivedAtMs - 1_000 };
    expect(ids(plain, { ...plain, receivedAtMs: receivedAtMs + 60_000 })).toBe(1);
    expect(ids(plain, other, later, { ...plain, person: { waId: '5491155550002' } })).toBe(4);
  });

  test('and another one for each client', () => {
    const of = (clientId: number) => told({ answered: undefined, clientId }).id;
    expect(of(1_001)).not.toBe(of(1_002));
  });
});

test.each([
  ['without one', undefined, receivedAtMs],
  ['ahead', receivedAtMs + 3_600_000, receivedAtMs],
  ['before the message was accepted', 1, head.acceptedAtMs],
])('the time of an answer, by a clock of the platform %s', (_, atMs, expected) => {
  const { atMs: _own, ...plain } = text;
  expect(told({ word: atMs === undefined ? plain : { ...plain, atMs } }).timestampMs).toBe(expected);
});

test('a client is told of answers when it asks for it (D41)', () => {
  expect(defaultEventTypes.has('message.replied')).toBe(false);
});
