import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  type AccountWord,
  AccountWordSchema,
  accountWordsOf,
} from '../../../../lib/platform/webhook/account-update.ts';

const atMs = 1_800_000_000_000;
const update = (value: unknown, field = 'account_update') => ({ wabaId: '11', field, value: value as object, atMs });
const wordsOf = (value: unknown, field?: string) => accountWordsOf([update(value, field) as never]);

const restricted = (restriction_type: string, more: object = {}) => ({
  event: 'ACCOUNT_RESTRICTION',
  restriction_info: [{ restriction_type, ...more }],
});
const limited = 'RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING';
const banned = (waba_ban_state: string) => ({
  event: 'DISABLED_UPDATE',
  ban_info: { waba_ban_state, waba_ban_date: 'April 17, 2027' },
});

describe('what is said of an account (platform reference, 10.4)', () => {
  test.each<[unknown, AccountWord[]]>([
    [
      restricted('RESTRICTED_BIZ_INITIATED_MESSAGING', { expiration: 1_800_003_600 }),
      [{ says: 'no_templates', atMs, untilMs: atMs + 3_600_000 }],
    ],
    [restricted(limited, { expiration: '1800003600' }), [{ says: 'utility_limited', atMs, untilMs: atMs + 3_600_000 }]],
    [restricted(limited, { expiration: 'next week', remediation: 'Review' }), [{ says: 'utility_limited', atMs }]],
    [restricted(limited), [{ says: 'utility_limited', atMs }]],
    [
      {
        ...restricted('RESTRICTED_BIZ_INITIATED_MESSAGING'),
        violation_info: { violation_type: 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT' },
      },
      [{ says: 'no_templates', atMs }],
    ],
    [
      {
        event: 'ACCOUNT_RESTRICTION',
        violation_info: { violation_type: 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT_RECOVERY' },
      },
      [{ says: 'utility_released', atMs }],
    ],
    [banned('DISABLE'), [{ says: 'disabled', atMs }]],
    [banned('REINSTATE'), [{ says: 'reinstated', atMs }]],
    [{ ...banned('REINSTATE'), phone_number: null }, [{ says: 'reinstated', atMs }]],
  ])('%j', (value, words) => {
    expect(wordsOf(value)).toEqual(words);
    expect(words.map((word) => v.parse(v.strictObject(AccountWordSchema.entries), word))).toEqual(words);
  });

  test.each<[string, unknown, string?]>([
    ['a warning', { event: 'ACCOUNT_RESTRICTION', violation_info: { violation_type: 'UTILITY_TEMPLATE_ABUSE' } }],
    ['a restriction of what is no sending', restricted('RESTRICTED_ADD_PHONE_NUMBER_ACTION', { expiration: 1 })],
    ['a restriction of what templates may be made', restricted('RESTRICTED_UTILITY_TEMPLATES')],
    ['replies only', restricted('RESTRICTED_CUSTOMER_INITIATED_MESSAGING')],
    ['what every object has', restricted('constructor')],
    ['a disabling that is planned', banned('SCHEDULE_FOR_DISABLE')],
    ['a ban without its event', { ...banned('DISABLE'), event: 'ACCOUNT_VIOLATION' }],
    ['a restriction without its event', { ...restricted(limited), event: 'ACCOUNT_VIOLATION' }],
    ['one number', { ...restricted(limited), phone_number: '15550783881' }],
    ['a review', { decision: 'REJECTED' }, 'account_review_update'],
    ['the same in another field', banned('DISABLE'), 'account_alerts'],
    ['no object', 7],
  ])('%s says nothing of sending', (_, value, field) => {
    expect(wordsOf(value, field)).toEqual([]);
  });

  test('a part that cannot be read takes nothing from the others', () => {
    const value = {
      ...{ event: 'ACCOUNT_RESTRICTION', violation_info: 'x', ban_info: [], restriction_info: [] },
      restriction_info: [null, 7, { restriction_type: 8 }, { restriction_type: limited }],
    };
    expect(wordsOf(value)).toEqual([{ says: 'utility_limited', atMs }]);
    expect(wordsOf({ ...banned('DISABLE'), restriction_info: 'x' })).toEqual([{ says: 'disabled', atMs }]);
  });

  test('of each kind the last counts, and one without a time is as young as its arrival', () => {
    const of = (says: string, ...time: number[]) => {
      const { atMs: _, ...rest } = update(banned(says));
      return (time[0] === undefined ? rest : { ...rest, atMs: time[0] }) as never;
    };
    const words = [of('DISABLE', 3_000), of('REINSTATE', 2_000), of('DISABLE', 1_000), of('REINSTATE')];
    const last = [{ says: 'disabled', atMs: 3_000 }, { says: 'reinstated' }];
    expect(accountWordsOf(words)).toEqual(last);
    expect(new Set(accountWordsOf(words.toReversed()))).toEqual(new Set(last));
  });

  test('whatever is said, it is read without an error', () => {
    const anything = fc.oneof({ maxDepth: 3 }, fc.jsonValue(), fc.constantFrom('ACCOUNT_RESTRICTION', limited));
    const keys = { event: anything, violation_info: anything, ban_info: anything, phone_number: anything };
    const entry = fc.oneof(anything, fc.record({ restriction_type: anything, expiration: anything }));
    const value = fc.record({ ...keys, restriction_info: fc.array(entry) }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.array(fc.oneof(anything, value)), (values) => {
        const words = accountWordsOf(values.map((each) => update(each) as never));
        expect(new Set(words.map(({ says }) => says)).size).toBe(words.length);
      }),
      { numRuns: 300 },
    );
  });
});
