import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PlatformUpdate } from '../../../../lib/platform/webhook/envelope.ts';
import { personUpdatesOf } from '../../../../lib/platform/webhook/person-updates.ts';

/** The platform documents updates about people in these shapes (platform reference, 4.5 and 10.5). */

const userId = 'US.13491208655302741918';
const parentUserId = 'US.ENT.11815799212886844830';
const waId = '16505551234';
const metadata = { display_phone_number: '15550783881', phone_number_id: '31' };
const contact = { profile: { name: 'Sheena Nelson', username: 'realsheenanelson' }, wa_id: waId, user_id: userId };
const atMs = 1_749_416_383_000;
const here = { wabaId: '11', phoneNumberId: '31', atMs };

const update = (field: string, value: object): PlatformUpdate => ({
  wabaId: '11',
  field,
  value: { metadata, ...value },
});
const inbound = (message: object, more: object = { contacts: [contact] }, field = 'messages') =>
  update(field, {
    ...more,
    messages: [{ from: waId, from_user_id: userId, id: 'wamid.in', timestamp: '1749416383', ...message }],
  });
const wordsOf = (...updates: readonly PlatformUpdate[]) => personUpdatesOf(updates).words;
const told = (...updates: readonly PlatformUpdate[]) => {
  const { words, others, unreadable } = personUpdatesOf(updates);
  return { words: words.length, others: Object.fromEntries(others), unreadable };
};
const sheena = { waId, userId, username: 'realsheenanelson' };
const text = (body: unknown) => ({ type: 'text', text: { body } });

describe('a reply', () => {
  test.each<readonly [string, object, object]>([
    ['a text', text('STOP'), { by: 'text', text: 'STOP' }],
    [
      'a text that answers a message',
      { ...text('STOP'), context: { from: '15550783881', id: 'wamid.out' } },
      { by: 'text', text: 'STOP', toMessageId: 'wamid.out' },
    ],
    [
      "a template's quick reply",
      {
        ...{ context: { from: '15550783881', id: 'wamid.out' }, type: 'button' },
        button: { payload: 'unsubscribe-7', text: 'Unsubscribe' },
      },
      { by: 'quick_reply', payload: 'unsubscribe-7', text: 'Unsubscribe', toMessageId: 'wamid.out' },
    ],
    [
      'one that does not say which message it answers',
      { type: 'button', button: { payload: 'Unsubscribe', text: 'Unsubscribe' } },
      { by: 'quick_reply', payload: 'Unsubscribe', text: 'Unsubscribe' },
    ],
    [
      'a button',
      { type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: 'b1', title: 'Yes' } } },
      { by: 'button', payload: 'b1', text: 'Yes' },
    ],
    [
      'a row of a list',
      {
        type: 'interactive',
        interactive: { type: 'list_reply', list_reply: { id: 'r1', title: 'Blue', description: 'A colour' } },
      },
      { by: 'list', payload: 'r1', text: 'Blue' },
    ],
    [
      'the answer of a flow, whose JSON stays a text',
      {
        type: 'interactive',
        interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{"a":1}' } },
      },
      { by: 'flow', payload: '{"a":1}', text: 'Sent' },
    ],
  ])('%s', (_, message, reply) => {
    expect(wordsOf(inbound(message))).toEqual([
      { ...here, kind: 'reply', person: sheena, messageId: 'wamid.in', reply },
    ]);
  });

  test('in a thread that another app owns is marked', () => {
    expect(wordsOf(inbound(text('STOP'), {}, 'standby'))).toMatchObject([{ kind: 'reply', standby: true }]);
    expect(wordsOf(inbound(text('STOP')))[0]).not.toMatchObject({ standby: expect.anything() });
  });

  test('keeps its first thousand characters, whole ones only', () => {
    const [word] = wordsOf(inbound(text(`${'x'.repeat(999)}\u{1f355}${'y'.repeat(2_000)}`)));
    expect(word).toMatchObject({ reply: { text: `${'x'.repeat(999)}\ufffd` } });
  });

  test('told twice is one, on its own number', () => {
    const again = {
      ...inbound(text('STOP')),
      value: { ...inbound(text('STOP')).value, metadata: { phone_number_id: '32' } },
    };
    expect(wordsOf(inbound(text('STOP')), inbound(text('STOP')), again).map((each) => each.phoneNumberId)).toEqual([
      '31',
      '32',
    ]);
  });

  test.each<readonly [string, object, object]>([
    ['without text', text(undefined), { unreadable: 1 }],
    ['with a text that is none', text({ body: 'STOP' }), { unreadable: 1 }],
    ['with an empty button', { type: 'button', button: {} }, { unreadable: 1 }],
    ['without type', { type: undefined }, { unreadable: 1 }],
    ['an image', { type: 'image', image: { id: '1' } }, { others: { image: 1 } }],
    ['a shared contact', { type: 'contacts', contacts: [] }, { others: { contacts: 1 } }],
    [
      'a permission to call',
      { type: 'interactive', interactive: { type: 'call_permission_reply' } },
      { others: { interactive: 1 } },
    ],
    ['interactive and nothing more', { type: 'interactive' }, { others: { interactive: 1 } }],
    ['of an unknown type', { type: '15550001111 said' }, { others: { unknown: 1 } }],
    ['of a type called as what every object has', { type: 'constructor' }, { others: { unknown: 1 } }],
  ])('%s is only counted', (_, message, counts) => {
    expect(told(inbound(message))).toEqual({ words: 0, others: {}, unreadable: 0, ...counts });
  });
});

describe('who it is', () => {
  const personIn = (message: object, contacts?: unknown) =>
    wordsOf(inbound({ ...text('x'), ...message }, { contacts }))[0]?.person;
  const unnamed = { from: undefined, from_user_id: undefined };

  test.each<readonly [string, object, unknown, object | undefined]>([
    ['by both ids, without contacts', {}, undefined, { waId, userId }],
    ['by user id alone: the number may not be shown', { from: undefined }, undefined, { userId }],
    ['by number alone: before 2026', { from_user_id: undefined }, undefined, { waId }],
    ['with the parent id', { from_parent_user_id: parentUserId }, undefined, { waId, userId, parentUserId }],
    ['what the contact knows of the user id', { from: undefined }, [contact], sheena],
    ['what the contact knows of the number', { from_user_id: undefined }, [contact], sheena],
    ['the only contact of the only message', unnamed, [contact], sheena],
    ['one of two contacts, by id', { from: undefined }, [{ wa_id: '1999', user_id: 'US.2' }, contact], sheena],
    ['neither of two contacts', unnamed, [contact, contact], undefined],
    ['no contact of somebody else', {}, [{ wa_id: '19995550000', user_id: 'US.2' }], { waId, userId }],
    ['its own word before that of the contact', {}, [{ ...contact, wa_id: '19995550000' }], sheena],
    ['ids that are none', { from: 'Sheena', from_user_id: 'us.1' }, undefined, undefined],
    ['a user id that is too long', { from: undefined, from_user_id: `US.${'1'.repeat(129)}` }, undefined, undefined],
    ['contacts that are none', {}, [null, 7, [], { profile: 'x' }], { waId, userId }],
  ])('%s', (_, message, contacts, person) => {
    expect(personIn(message, contacts)).toEqual(person);
  });

  test('a message without sender, without number, or of another shape is skipped alone', () => {
    const good = inbound(text('x')).value;
    const messages = [null, 7, 'x', [], {}, ...((good['messages'] as object[]) ?? [])];
    expect(told(update('messages', { messages }))).toEqual({ words: 1, others: {}, unreadable: 5 });
    expect(told({ ...inbound(text('x')), value: { ...good, metadata: undefined } })).toMatchObject({ unreadable: 1 });
  });
});

describe('a preference', () => {
  const preference = (more: object, contacts: unknown = [contact]) =>
    update('user_preferences', {
      contacts,
      user_preferences: [
        {
          ...{ wa_id: waId, user_id: userId, detail: 'User requested to stop marketing messages' },
          ...{ category: 'marketing_messages', value: 'stop', timestamp: 1_749_416_383, ...more },
        },
      ],
    });

  test.each(['stop', 'resume', 'signup'])('%s', (value) => {
    expect(wordsOf(preference({ value, parent_user_id: parentUserId, signup_id: '7' }))).toEqual([
      { ...here, kind: 'preference', person: { ...sheena, parentUserId }, says: value },
    ]);
  });

  test.each<readonly [string, object, unknown, object]>([
    ['without profile', {}, [{ wa_id: waId }], { waId, userId }],
    ['by the contact alone', { wa_id: undefined, user_id: undefined }, [{ wa_id: waId }], { waId }],
    ['of a person whose number may not be shown', { wa_id: undefined }, [], { userId }],
  ])('%s', (_, more, contacts, person) => {
    expect(wordsOf(preference(more, contacts))[0]?.person).toEqual(person);
  });

  test('whose time is a text is of that time; of none, of that of the webhook', () => {
    expect(wordsOf(preference({ timestamp: '1749416384' }))[0]?.atMs).toBe(atMs + 1_000);
    expect(wordsOf({ ...preference({ timestamp: 'soon' }), atMs: 5 })[0]?.atMs).toBe(5);
    expect(wordsOf(preference({ timestamp: undefined }))[0]).not.toMatchObject({ atMs: expect.anything() });
  });

  test.each([{ value: 'pause' }, { value: undefined }, { category: 'utility_messages' }])(
    '%j is only counted',
    (more) => {
      expect(told(preference(more))).toEqual({ words: 0, others: { preference: 1 }, unreadable: 0 });
    },
  );

  test('without a person is unreadable, and so is one in another field', () => {
    expect(told(preference({ wa_id: undefined, user_id: undefined }, []))).toMatchObject({ words: 0, unreadable: 1 });
    expect(told({ ...preference({}), field: 'messages' })).toEqual({ words: 0, others: {}, unreadable: 0 });
  });
});

describe('an id that changed', () => {
  const [before, after] = ['US.1OLD', 'US.2NEW'];
  const change = (system: object, more: object = {}) =>
    inbound({
      ...{ type: 'system', from_user_id: undefined, ...more },
      system: {
        ...{ body: `User Sheena Nelson changed from ${before} to ${after}`, type: 'user_changed_user_id' },
        ...{ wa_id: '12195555358', user_id: after, parent_user_id: parentUserId, ...system },
      },
    });
  const oldUserId = (system: object, more?: object) => {
    const [word] = wordsOf(change(system, more));
    return word?.kind === 'user_id_changed' ? word.old.userId : `no change: ${word?.kind}`;
  };

  test('has the new ids, and the old ones as far as they are told', () => {
    expect(wordsOf(change({}))).toEqual([
      {
        ...{ ...here, kind: 'user_id_changed', messageId: 'wamid.in' },
        person: { waId: '12195555358', userId: after, parentUserId },
        old: { waId, userId: before },
      },
    ]);
  });

  test.each<readonly [string, object, object | undefined, string | undefined]>([
    ['by the sentence', {}, { from: undefined }, before],
    ['by a sentence with a full stop', { body: `User S changed from ${before} to ${after}.` }, undefined, before],
    ['by `from`', { body: undefined }, { from: before }, before],
    ['by both', {}, { from: before }, before],
    ['by both, which do not agree', {}, { from: 'US.3' }, undefined],
    ['by neither', { body: 'User Sheena Nelson changed' }, undefined, undefined],
    ['by a sentence of another new id', { user_id: 'US.3' }, undefined, undefined],
    ['without the new id', { user_id: undefined }, undefined, undefined],
    [
      'by a sentence in which nothing changes',
      { body: `User S changed from ${after} to ${after}` },
      undefined,
      undefined,
    ],
    ['by a sentence that is a list', { body: [`User S changed from ${before} to ${after}`] }, undefined, undefined],
    ['by numbers', { body: 'User S changed from 16505551234 to 12195555358' }, undefined, undefined],
    ['by its own field', { body: 'User S has changed', previous_user_id: before }, { from: undefined }, before],
    ['by its own field, which counts before others', { previous_user_id: 'US.3' }, { from: 'US.4' }, 'US.3'],
    ['by its own field, which is no id', { previous_user_id: '16505551234' }, undefined, before],
    ['by the sentence, where its own field has the new one', { previous_user_id: after }, undefined, before],
    ['by its own field, without the new id', { user_id: undefined, previous_user_id: before }, undefined, undefined],
  ])('%s: the old id', (_, system, more, old) => {
    expect(oldUserId(system, more)).toBe(old);
  });

  test('is never the id of another person that someone has put into their own name', () => {
    const name = `X changed from US.VICTIM to ${after}`;
    expect(oldUserId({ body: `User ${name} changed from ${before} to ${after}` })).toBe(before);
    expect(oldUserId({ body: `User ${name}\nchanged` })).toBeUndefined();
    expect(oldUserId({ body: `User changed from US.VICTIM to ${after} and went` })).toBeUndefined();
    expect(oldUserId({ body: `User ${name.padEnd(3_000_000)} changed from ${before} to ${after}` })).toBe(before);
  });

  test('is told at its longest', () => {
    const [long, longer] = [`US.${'a'.repeat(128)}`, `US.ENT.${'b'.repeat(128)}`];
    expect(oldUserId({ body: `User S changed from ${longer} to ${long}`, user_id: long })).toBe(longer);
  });

  test('of a number', () => {
    const system = {
      type: 'user_changed_number',
      body: 'User S changed from 16505551234 to 12195555358',
      user_id: undefined,
    };
    expect(wordsOf(change(system))).toMatchObject([
      { kind: 'number_changed', person: { waId: '12195555358' }, old: { waId } },
    ]);
  });

  test('of a number, with user ids of before and now (2026-08)', () => {
    const ids = { previous_user_id: before, previous_parent_user_id: 'US.ENT.1OLD' };
    const system = { type: 'user_changed_number', body: 'User S changed', ...ids };
    expect(wordsOf(change(system))).toMatchObject([
      {
        kind: 'number_changed',
        person: { waId: '12195555358', userId: after, parentUserId },
        old: { waId, userId: before, parentUserId: 'US.ENT.1OLD' },
      },
    ]);
    const same = { ...system, previous_parent_user_id: parentUserId };
    expect(wordsOf(change(same))).toMatchObject([{ old: { waId, userId: before } }]);
    expect(wordsOf(change(same))[0]).not.toMatchObject({ old: { parentUserId: expect.anything() } });
  });

  test.each(['user_identity_changed', 'customer_changed_number', undefined])('%s is only counted', (type) => {
    expect(told(change({ type }))).toEqual({ words: 0, others: { system: 1 }, unreadable: 0 });
  });
});

test('other fields tell nothing of people, and statuses are no words', () => {
  const messages = inbound(text('x')).value['messages'];
  expect(told(update('account_update', { messages }), update('constructor', { messages }))).toEqual({
    ...{ words: 0, others: {}, unreadable: 0 },
  });
  expect(told(update('messages', { statuses: [{ id: 'wamid.1', status: 'read' }] }))).toMatchObject({
    words: 0,
    unreadable: 0,
  });
});

test('any body is read without an error, and each word is bounded and names a person', () => {
  const ids = fc.constantFrom(waId, userId, 'US.2', '19995550000', 7, null, '');
  const anything = fc.oneof({ maxDepth: 3 }, fc.jsonValue(), ids);
  const messages = fc.array(
    fc.oneof(
      anything,
      fc.record(
        {
          ...{ from: ids, from_user_id: ids, id: anything, timestamp: anything, context: anything },
          ...{ wa_id: ids, user_id: ids, value: fc.constantFrom('stop', 'x'), category: anything },
          type: fc.constantFrom('text', 'button', 'interactive', 'system', 'image', 'x', 7),
          ...{ text: fc.record({ body: anything }), button: anything },
          interactive: fc.oneof(
            anything,
            fc.record({ type: fc.constantFrom('button_reply', 'x'), button_reply: anything }),
          ),
          system: fc.oneof(
            anything,
            fc.record({ type: fc.constant('user_changed_user_id'), user_id: ids, body: anything }),
          ),
        },
        { requiredKeys: [] },
      ),
    ),
  );
  const value = fc.record({
    metadata: fc.oneof(anything, fc.constant(metadata)),
    contacts: fc.oneof(anything, fc.array(fc.record({ wa_id: ids, user_id: ids, profile: anything }))),
    messages: fc.oneof(anything, messages),
    user_preferences: fc.oneof(anything, messages),
  });
  const field = fc.constantFrom('messages', 'standby', 'user_preferences', 'flows');
  let read = 0;
  fc.assert(
    fc.property(fc.array(fc.record({ wabaId: fc.constant('11'), field, value })), (updates) => {
      const { words } = personUpdatesOf(updates);
      read += words.length;
      for (const word of words) {
        expect(word.person.waId ?? word.person.userId).toMatch(/\w/);
        expect(JSON.stringify(word).length).toBeLessThan(16_000);
      }
    }),
    { numRuns: 500 },
  );
  expect(read).toBeGreaterThan(0);
});
