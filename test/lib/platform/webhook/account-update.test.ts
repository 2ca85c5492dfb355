import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  type AccountUpdate,
  AccountUpdateSchema,
  accountUpdatesOf,
} from '../../../../lib/platform/webhook/account-update.ts';

const atMs = 1_800_000_000_000;
const arrivedMs = atMs + 7_000;
const update = (value: unknown, field = 'account_update') => ({ wabaId: '11', field, value: value as object, atMs });
const wordsOf = (value: unknown, field?: string) => accountUpdatesOf([update(value, field) as never], arrivedMs);

const restricted = (restriction_type: string, more: object = {}) => ({
  event: 'ACCOUNT_RESTRICTION',
  restriction_info: [{ restriction_type, ...more }],
});
const violation = (violation_type: string) => ({ violation_info: { violation_type } });
const limited = 'RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING';
const banned = (waba_ban_state: string) => ({
  event: 'DISABLED_UPDATE',
  ban_info: { waba_ban_state, waba_ban_date: 'April 17, 2027' },
});
const owner = { waba_id: '11', owner_business_id: '3' };

type Said = Omit<AccountUpdate, 'kind' | 'atMs'>;
const restricts = (said: Said): AccountUpdate[] => [{ kind: 'restricted', atMs, ...said }];
const restores = (said: Said): AccountUpdate[] => [{ kind: 'restored', atMs, ...said }];
const noTemplates = { matter: 'sending', word: 'RESTRICTED_BIZ_INITIATED_MESSAGING', code: '368' } as const;
const utilityLimited = { matter: 'utility', word: limited, code: '131064' } as const;

describe('what is said of an account (platform reference, 10.4)', () => {
  test.each<[unknown, AccountUpdate[]]>([
    [
      restricted(noTemplates.word, { expiration: 1_800_003_600 }),
      restricts({ ...noTemplates, untilMs: atMs + 3_600_000 }),
    ],
    [restricted(limited, { expiration: '1800003600' }), restricts({ ...utilityLimited, untilMs: atMs + 3_600_000 })],
    [
      restricted(limited, { expiration: 'next week', remediation: 'Review' }),
      restricts({ ...utilityLimited, remediation: 'Review' }),
    ],
    [restricted(limited, { remediation: 7 }), restricts(utilityLimited)],
    [
      restricted(limited, { remediation: 'x'.repeat(1_001) }),
      restricts({ ...utilityLimited, remediation: 'x'.repeat(1_000) }),
    ],
    [{ ...restricted(noTemplates.word), ...violation('UTILITY_TEMPLATE_ABUSE_RATE_LIMIT') }, restricts(noTemplates)],
    [
      { event: 'ACCOUNT_RESTRICTION', ...violation('UTILITY_TEMPLATE_ABUSE_RATE_LIMIT_RECOVERY') },
      restores({ matter: 'utility', word: 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT_RECOVERY', code: '131064' }),
    ],
    [
      { ...restricted('RESTRICTED_UTILITY_TEMPLATES'), ...violation('UTILITY_TEMPLATE_ABUSE') },
      restricts({ matter: 'utility_templates', word: 'RESTRICTED_UTILITY_TEMPLATES' }),
    ],
    [
      restricted('RESTRICTED_DIRECT_SEND_UTILITY_TEMPLATES'),
      restricts({ matter: 'utility_templates', word: 'RESTRICTED_DIRECT_SEND_UTILITY_TEMPLATES' }),
    ],
    [
      { event: 'ACCOUNT_RESTRICTION', ...violation('UTILITY_TEMPLATE_ABUSE_UNBAN') },
      restores({ matter: 'utility_templates', word: 'UTILITY_TEMPLATE_ABUSE_UNBAN' }),
    ],
    ...['RESTRICTED_CUSTOMER_INITIATED_MESSAGING', 'RESTRICTED_ADD_PHONE_NUMBER_ACTION', 'A_WORD_TO_COME'].map(
      (word): [unknown, AccountUpdate[]] => [restricted(word), restricts({ matter: 'other', word })],
    ),
    [banned('DISABLE'), restricts({ matter: 'sending', word: 'DISABLE', code: '131031' })],
    [banned('SCHEDULE_FOR_DISABLE'), restricts({ matter: 'sending', word: 'SCHEDULE_FOR_DISABLE' })],
    [banned('REINSTATE'), restores({ matter: 'sending', word: 'REINSTATE', code: '131031' })],
    [
      { ...banned('REINSTATE'), phone_number: null },
      restores({ matter: 'sending', word: 'REINSTATE', code: '131031' }),
    ],
    ...['ACCOUNT_DELETED', 'ACCOUNT_OFFBOARDED', 'PARTNER_REMOVED', 'PARTNER_APP_UNINSTALLED'].map(
      (event): [unknown, AccountUpdate[]] => [
        { event, waba_info: owner },
        restricts({ matter: 'access', word: event }),
      ],
    ),
    [{ event: 'ACCOUNT_RECONNECTED' }, restores({ matter: 'access', word: 'ACCOUNT_RECONNECTED' })],
  ])('%j', (value, words) => {
    expect(wordsOf(value)).toEqual(words);
    expect(words.map((word) => v.parse(v.strictObject(AccountUpdateSchema.entries), word))).toEqual(words);
  });

  test.each<[string, unknown, string?]>([
    ['a warning', { event: 'ACCOUNT_RESTRICTION', ...violation('UTILITY_TEMPLATE_ABUSE') }],
    ['a restriction without a name', { event: 'ACCOUNT_RESTRICTION' }],
    ['a violation', { event: 'ACCOUNT_VIOLATION', ...violation('ADULT') }],
    ['what every object has', restricted('constructor')],
    ['a word as the platform spells none', restricted(`A${'B'.repeat(64)}`)],
    ['an unknown state', banned('constructor')],
    ['an unknown event', { event: 'constructor' }],
    ['a ban without its event', { ...banned('DISABLE'), event: 'ACCOUNT_VIOLATION' }],
    ['a restriction without its event', { ...restricted(limited), event: 'ACCOUNT_VIOLATION' }],
    ['one number', { ...restricted(limited), phone_number: '15550783881' }],
    ['another WABA', { event: 'PARTNER_REMOVED', waba_info: { ...owner, waba_id: '12' } }],
    ['a new partner', { event: 'PARTNER_ADDED', waba_info: owner }],
    ['a review', { decision: 'REJECTED' }, 'account_review_update'],
    ['the same in another field', banned('DISABLE'), 'account_alerts'],
    ['no object', 7],
  ])('%s says nothing of the account', (_, value, field) => {
    expect(wordsOf(value, field)).toEqual([]);
  });

  test('a part that cannot be read takes nothing from the others', () => {
    const value = {
      ...{ event: 'ACCOUNT_RESTRICTION', violation_info: 'x', ban_info: [], restriction_info: [] },
      restriction_info: [null, 7, { restriction_type: 8 }, { restriction_type: limited }],
    };
    expect(wordsOf(value)).toEqual(restricts(utilityLimited));
    const disabled = restricts({ matter: 'sending', word: 'DISABLE', code: '131031' });
    expect(wordsOf({ ...banned('DISABLE'), restriction_info: 'x' })).toEqual(disabled);
  });

  test('each word is told once, by its time, and one without a time is of its arrival', () => {
    const of = (says: string, ...time: number[]) => {
      const { atMs: _, ...rest } = update(banned(says));
      return (time[0] === undefined ? rest : { ...rest, atMs: time[0] }) as never;
    };
    const words = [
      of('DISABLE', 3_000),
      of('REINSTATE'),
      of('REINSTATE', 3_000),
      of('DISABLE', 1_000),
      of('DISABLE', 3_000),
    ];
    const said = (told: AccountUpdate[]) => told.map(({ word, atMs: at, untimed = false }) => [word, at, untimed]);
    expect(said(accountUpdatesOf(words, 9_000))).toEqual([
      ['DISABLE', 1_000, false],
      ['DISABLE', 3_000, false],
      ['REINSTATE', 3_000, false],
      ['REINSTATE', 9_000, true],
    ]);
    expect(accountUpdatesOf(words.toReversed(), 9_000)).toEqual(accountUpdatesOf(words, 9_000));
  });

  test('one of a time that is still to come is of its arrival: no clock is so far ahead', () => {
    const said = (aheadMs: number) => {
      const [word] = accountUpdatesOf([{ ...update(banned('REINSTATE')), atMs: atMs + aheadMs } as never], atMs);
      return [word?.atMs, word?.untimed];
    };
    expect(said(60_000)).toEqual([atMs + 60_000, undefined]);
    expect(said(61_000)).toEqual([atMs, true]);
    expect(said(9_999_999_999_000 - atMs)).toEqual([atMs, true]);
  });

  test('several restrictions at once are all told; more than the platform ever sends are cut to the latest', () => {
    const many = (count: number) => ({
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: Array.from({ length: count }, (_, at) => ({ restriction_type: `RESTRICTED_${at}` })),
    });
    expect(wordsOf(many(50)).map(({ word }) => word)).toContain('RESTRICTED_0');
    expect(wordsOf(many(51))).toHaveLength(50);
  });

  test('of an absurdly long list the rest is not read', () => {
    const behind = (count: number) => ({
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [...Array(count).fill({}), { restriction_type: limited }],
    });
    expect(wordsOf(behind(999))).toEqual(restricts(utilityLimited));
    expect(wordsOf(behind(1_000))).toEqual([]);
  });

  test('whatever is said, it is read without an error', () => {
    const anything = fc.oneof({ maxDepth: 3 }, fc.jsonValue(), fc.constantFrom('ACCOUNT_RESTRICTION', limited));
    const keys = { event: anything, violation_info: anything, ban_info: anything, phone_number: anything };
    const entry = fc.oneof(anything, fc.record({ restriction_type: anything, expiration: anything }));
    const value = fc.record({ ...keys, restriction_info: fc.array(entry) }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.array(fc.oneof(anything, value)), (values) => {
        const words = accountUpdatesOf(
          values.map((each) => update(each) as never),
          arrivedMs,
        );
        expect(new Set(words.map(({ word }) => word)).size).toBe(words.length);
        expect(words.map((word) => v.parse(v.strictObject(AccountUpdateSchema.entries), word))).toEqual(words);
      }),
      { numRuns: 300 },
    );
  });
});
