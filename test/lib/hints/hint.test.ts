import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { queueBody, queueMessageMaxBytes } from '../../../lib/aws/queue-body.ts';
import { HintMessageSchema, hintsOf as hintsOfWebhook, replacedIdHints } from '../../../lib/hints/hint.ts';
import type { PlatformUpdate } from '../../../lib/platform/webhook/envelope.ts';
import type { PersonWord } from '../../../lib/platform/webhook/person-words.ts';

const arrivedMs = 9_000;
const hintsOf = (updates: readonly PlatformUpdate[]) => hintsOfWebhook(updates, arrivedMs);
const update = (field: string, value: Readonly<Record<string, unknown>>, wabaId = '11') => ({ wabaId, field, value });
const ofTemplate = (id: unknown, wabaId?: string) =>
  update('message_template_status_update', { event: 'APPROVED', message_template_id: id }, wabaId);

test.each([
  'message_template_status_update',
  'template_category_update',
  'message_template_quality_update',
  'message_template_components_update',
])('%s is a hint at its template', (field) => {
  const hints = hintsOf([update(field, { message_template_id: 1_234_567_890_123_456 })]);
  expect(hints).toEqual([{ version: 1, wabaId: '11', templateIds: ['1234567890123456'], numbers: false }]);
  expect(hints.map((hint) => v.parse(v.strictObject(HintMessageSchema.entries), hint))).toEqual(hints);
});

test.each(['phone_number_quality_update', 'account_update', 'business_capability_update'])(
  '%s is a hint at the numbers (D42)',
  (field) => {
    const value = { max_daily_conversations_per_business: 'TIER_2K', max_phone_numbers_per_waba: 25 };
    expect(hintsOf([update(field, value)])).toEqual([{ version: 1, wabaId: '11', templateIds: [], numbers: true }]);
  },
);

test.each(['messages', 'flows', 'account_alerts', 'account_review_update', 'constructor'])('%s is no hint', (field) => {
  expect(hintsOf([update(field, { message_template_id: 1 })])).toEqual([]);
});

test('what an account is told goes with the hint of its WABA (D46)', () => {
  const banned = (waba_ban_state: string, atMs?: number) => ({
    ...update('account_update', { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state } }),
    ...(atMs === undefined ? {} : { atMs }),
  });
  const hints = hintsOf([ofTemplate(1), banned('DISABLE', 2_000), banned('REINSTATE'), ofTemplate(7, '12')]);
  const account = [
    { kind: 'restricted', matter: 'sending', word: 'DISABLE', code: '131031', atMs: 2_000 },
    { kind: 'restored', matter: 'sending', word: 'REINSTATE', code: '131031', atMs: arrivedMs, untimed: true },
  ];
  expect(hints).toEqual([
    { version: 1, wabaId: '11', templateIds: ['1'], numbers: true, account },
    { version: 1, wabaId: '12', templateIds: ['7'], numbers: false },
  ]);
  expect(hints.map((hint) => v.parse(v.strictObject(HintMessageSchema.entries), hint))).toEqual(hints);
});

test('there is one hint for each WABA, with each template once', () => {
  const updates = [
    ofTemplate(1),
    ofTemplate(7, '12'),
    ofTemplate('2'),
    ofTemplate(1),
    update('account_update', {}, '12'),
  ];
  expect(hintsOf(updates)).toEqual([
    { version: 1, wabaId: '11', templateIds: ['1', '2'], numbers: false },
    { version: 1, wabaId: '12', templateIds: ['7'], numbers: true },
  ]);
});

test.each([[2 ** 53], [1.5], [-1], ['x'], [undefined], [null], [{}]])(
  'with an id that cannot be told exactly, %j, everything is to be read',
  (id) => {
    expect(hintsOf([ofTemplate(1), ofTemplate(id)])).toEqual([
      { version: 1, wabaId: '11', templateIds: [], numbers: false, everything: true },
    ]);
  },
);

test('hundreds of templates are everything', () => {
  const templates = (count: number) => Array.from({ length: count }, (_, index) => ofTemplate(index + 1));
  expect(hintsOf(templates(100))[0]?.templateIds).toHaveLength(100);
  expect(hintsOf(templates(101))).toMatchObject([{ templateIds: [], everything: true }]);
});

describe('user ids that the platform has replaced', () => {
  const arrivedAtMs = 9_000;
  const change = (old: string | undefined, by: string | undefined, more: object = {}): PersonWord => ({
    ...{ kind: 'user_id_changed', wabaId: '11', phoneNumberId: '31', atMs: 5_000 },
    person: by === undefined ? { waId: '1650' } : { userId: by },
    old: old === undefined ? {} : { userId: old },
    ...more,
  });
  const ofWaba = (wabaId: string, ...replacedIds: readonly object[]) => ({
    ...{ version: 1, wabaId, templateIds: [], numbers: false, replacedIds },
  });

  test('are hints of their WABA, of each the last', () => {
    const words = [
      change('US.1', 'US.2', { atMs: 6_000 }),
      change('US.1', 'US.3'),
      change('US.2', 'US.4'),
      change('US.1', 'US.2', { wabaId: '12' }),
    ];
    const hints = replacedIdHints(words, arrivedAtMs);
    expect(hints).toEqual([
      ofWaba('11', { userId: 'US.1', by: 'US.2', atMs: 6_000 }, { userId: 'US.2', by: 'US.4', atMs: 5_000 }),
      ofWaba('12', { userId: 'US.1', by: 'US.2', atMs: 5_000 }),
    ]);
    expect(hints.map((hint) => v.parse(v.strictObject(HintMessageSchema.entries), hint))).toEqual(hints);
  });

  test('are of the time of their arrival, when none is told or one that has yet to come', () => {
    for (const atMs of [undefined, 10_000]) {
      const [hint] = replacedIdHints([change('US.1', 'US.2', { atMs })], arrivedAtMs);
      expect(hint?.replacedIds).toEqual([{ userId: 'US.1', by: 'US.2', atMs: arrivedAtMs }]);
    }
  });

  test('are none where an id is not told, and other words are none', () => {
    const reply = { ...change('US.1', 'US.2'), kind: 'number_changed' } as PersonWord;
    expect(replacedIdHints([change(undefined, 'US.2'), change('US.1', undefined), reply], arrivedAtMs)).toEqual([]);
  });

  test('fit the queue, however many and however long', () => {
    const long = (at: number, letter: string) => `US.ENT.${String(at).padStart(128, letter)}`;
    const words = Array.from({ length: 2_500 }, (_, at) => change(long(at, 'a'), long(at, 'b')));
    const hints = replacedIdHints(words, arrivedAtMs);
    expect(hints.map(({ replacedIds }) => replacedIds?.length)).toEqual([1_000, 1_000, 500]);
    for (const hint of hints) expect(queueBody(hint).length).toBeLessThan(queueMessageMaxBytes / 2);
  });
});
