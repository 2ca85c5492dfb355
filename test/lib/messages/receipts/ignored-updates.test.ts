import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ignoredUpdates } from '../../../../lib/messages/receipts/ignored-updates.ts';

const update = (field: string, value: object = {}) => ({ wabaId: '11', field, value: value as never });
const messages = (value: object) => update('messages', { messaging_product: 'whatsapp', metadata: {}, ...value });
const restriction = { event: 'ACCOUNT_RESTRICTION', restriction_info: [{ restriction_type: 'RESTRICTED_TO_COME' }] };

describe('what of a signed webhook nothing is made of is counted by kind (D38)', () => {
  test.each<[string, ReturnType<typeof update>, Record<string, number>]>([
    ['an unread field', update('flows'), { flows: 1 }],
    ['one that every object has', update('constructor'), { constructor: 1 }],
    ['a name that the platform would not write', update('<b>'), { other: 1 }],
    ['one that is too long', update('x'.repeat(65)), { other: 1 }],
    [
      'an alert',
      update('account_alerts', { alert_info: { alert_type: 'OBA_APPROVED' } }),
      { 'account_alerts.OBA_APPROVED': 1 },
    ],
    ['an alert without a type', update('account_alerts'), { account_alerts: 1 }],
    ['a review', update('account_review_update', { decision: 'REJECTED' }), { 'account_review_update.REJECTED': 1 }],
    [
      'an event that restricts nothing',
      update('account_update', { event: 'ACCOUNT_VIOLATION' }),
      { 'account_update.ACCOUNT_VIOLATION': 1 },
    ],
    [
      'an event of one number',
      update('account_update', { ...restriction, phone_number: '1' }),
      { 'account_update.ACCOUNT_RESTRICTION': 1 },
    ],
    ['an event that is no word', update('account_update', { event: { a: 1 } }), { 'account_update.other': 1 }],
    ['errors of no message', messages({ errors: [{ code: 130_429 }, { code: 1 }] }), { 'messages.errors': 2 }],
    [
      'what people did',
      messages({ user_actions: [{ action_type: 'landing_page_view' }] }),
      { 'messages.user_actions': 1 },
    ],
    ['an unknown key beside statuses', messages({ statuses: [], calls: { a: 1 } }), { 'messages.calls': 1 }],
    ['an empty list of it', messages({ calls: [] }), { 'messages.calls': 1 }],
    ['statuses that are no list', messages({ statuses: { a: 1 } }), { 'messages.statuses': 1 }],
    ['statuses in a thread of another app', update('standby', { statuses: [{}, {}] }), { 'standby.statuses': 2 }],
    [
      'preferences that are no list',
      update('user_preferences', { user_preferences: 1 }),
      { 'user_preferences.user_preferences': 1 },
    ],
    ['nothing but the frame', messages({ contacts: [{}] }), { messages: 1 }],
  ])('%s', (_, told, counts) => {
    expect(ignoredUpdates([told])).toEqual(counts);
    const [[kind = '', times = 0] = []] = Object.entries(counts);
    expect(ignoredUpdates([told, told])).toEqual({ [kind]: 2 * times });
  });

  test.each([
    messages({ contacts: [{}], statuses: [{}] }),
    messages({ messages: [{}] }),
    update('standby', { metadata: {}, messages: [{}] }),
    update('user_preferences', { contacts: [{}], user_preferences: [{}] }),
    update('account_update', restriction),
    update('business_capability_update'),
    update('phone_number_quality_update'),
    update('message_template_status_update'),
  ])('and what is read is not: %j', (told) => {
    expect(ignoredUpdates([told])).toEqual({});
  });

  test('many names end in one count, and none is lost', () => {
    const many = Array.from({ length: 500 }, (_, at) => update(`field_${at}`));
    const counts = ignoredUpdates([...many, ...many]);
    expect(Object.keys(counts)).toHaveLength(21);
    expect(counts).toMatchObject({ field_0: 2, field_19: 2, other: 960 });
  });

  test('whatever comes, it is counted without an error, in names that may be logged', () => {
    const name = fc.oneof(fc.string(), fc.constantFrom('messages', 'account_update', 'account_alerts', '__proto__'));
    const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.constant(restriction));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (all) => {
        const counts = ignoredUpdates(all.map(([field, told]) => update(field, told)));
        expect(Object.keys(counts).every((kind) => /^\w{1,64}(?:\.\w{1,64})?$/.test(kind))).toBe(true);
        expect(Object.values(counts).every((times) => times > 0)).toBe(true);
      }),
    );
  });
});
