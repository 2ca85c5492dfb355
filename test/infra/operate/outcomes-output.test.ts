import { expect, test } from 'vitest';
import { heldBy, holdInWords } from '../../../infra/operate/see/holds-output.ts';
import { asJson, dispatchTable } from '../../../infra/operate/see/outcomes-output.ts';
import type { DispatchHead } from '../../../lib/messages/dispatch/head.ts';
import type { HoldScope } from '../../../lib/messages/holds/scope.ts';
import { makeDispatchHead } from '../../support/made-dispatches.ts';

test.each([
  ['5491155550001', undefined],
  ['US.1', '16505551234'],
])('programs are told of %s how the platform names the person, as the report tells it (D40)', (to, waId) => {
  const outcome = { messageId: 'J-0', position: 0, state: 'read', to, userId: 'US.1', waId: '16505551234' } as const;
  const dispatch = { head: makeDispatchHead(), repeats: [], recipients: new Map([[0, to]]) };
  const { data } = asJson({ dispatch, outcomes: [outcome], shown: [outcome] });
  expect(data).toMatchObject([{ message_id: 'J-0', index: 0, to, user_id: 'US.1', state: 'read' }]);
  expect(data[0]?.wa_id).toBe(waId);
});

test('the end of a dispatch’s wait for a hold depends on its hours (D46, D56)', () => {
  const hourMs = 3_600_000;
  const sinceMs = Date.parse('2026-11-20T09:00:00Z');
  const open = [0, 1, 2].map((day) => {
    const fromMs = sinceMs + day * 24 * hourMs;
    return [fromMs, fromMs + 10 * hourMs] as const;
  });
  const parked = { code: '131042', scope: 'waba', sinceMs } as const;
  const dispatch = {
    head: makeDispatchHead({ total: 1 }),
    repeats: [],
    recipients: new Map(),
    parked,
    lots: [{ until: 1, open }],
  };
  const found = { dispatch, outcomes: [], shown: [] };
  expect(asJson(found).parked).toMatchObject({ until: '2026-11-22T13:00:00.000Z' });
  expect(dispatchTable([found])[1]).toContain('until 2026-11-22T13:00:00.000Z at most');
});

test('a dispatch waits for the widest hold on its messages; never for one of another category or place', () => {
  const { wabaId } = makeDispatchHead();
  const sinceMs = 1_800_000_000_000;
  const open = (scope: HoldScope, code: string, ofWaba = wabaId) => ({
    ...{ scope, code, wabaId: ofWaba },
    ...{ sinceMs, nextAskMs: sinceMs, asks: 0 },
  });
  const holds = [
    ...[open('waba', '131042', 'W9'), open('utility', '131064'), open('number:300000000000002', '133010')],
    ...[open('marketing:300000000000001', '131048'), open('template:order_update/en_US', '132015')],
  ];
  const waitsFor = (changes: Partial<DispatchHead>) => {
    const dispatch = { head: makeDispatchHead({ total: 23, ...changes }), repeats: [], recipients: new Map() };
    const parked = { code: '131042', scope: 'waba', sinceMs } as const;
    const held = heldBy(holds, [{ dispatch: { ...dispatch, parked }, outcomes: [], shown: [] }]);
    return held.goingOn.length === 1 ? 'none' : held.holds.find(({ waiting }) => waiting.length === 1)?.hold.code;
  };
  expect(waitsFor({ category: 'UTILITY' })).toBe('131064');
  expect(waitsFor({ category: 'MARKETING' })).toBe('131048');
  expect(waitsFor({ category: 'AUTHENTICATION' })).toBe('132015');
  expect(waitsFor({ category: 'AUTHENTICATION', phoneNumberId: '300000000000002' })).toBe('133010');
  expect(waitsFor({ category: 'AUTHENTICATION', templateLanguage: 'es_AR' })).toBe('none');
  expect([waitsFor({ wabaId: 'W8' }), waitsFor({ wabaId: 'W9' })]).toEqual(['none', '131042']);
  holds.splice(0, holds.length, open('edge:300000000000001', '131063'));
  expect(waitsFor({ category: 'MARKETING' })).toBe('131063');
  expect(waitsFor({ category: 'MARKETING', path: 'marketing_messages' })).toBe('none');
  expect(holds.map(holdInWords)).toEqual([
    `marketing on the messages edge of number 300000000000001 of waba ${wabaId}`,
  ]);
});
