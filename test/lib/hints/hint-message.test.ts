import * as v from 'valibot';
import { expect, test } from 'vitest';
import { HintMessageSchema, hintsOf as hintsOfWebhook } from '../../../lib/hints/hint-message.ts';
import type { PlatformUpdate } from '../../../lib/platform/webhook/envelope.ts';

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
    atMs,
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
