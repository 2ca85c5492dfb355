import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DispatchHead, Repeat } from '../../../../lib/messages/dispatch/head.ts';
import { reportedStates } from '../../../../lib/messages/receipts/reported-state.ts';
import { placesOf } from '../../../../lib/messages/report/described-dispatch.ts';
import type { ReportedOutcome } from '../../../../lib/messages/report/outcome.ts';
import { reportAnswer, reportPage, statesOf } from '../../../../lib/messages/report/report.ts';
import {
  isPlaceIn,
  partitionsOf,
  type ReportPlace,
  type ReportQuery,
  reportCursor,
  reportPlaceOf,
} from '../../../../lib/messages/report/report-cursor.ts';
import { withoutDuplicates } from '../../../../lib/messages/request/duplicates.ts';
import { noCost } from '../../../support/reported-dispatches.ts';

const dispatchId = '01K9ZQ4T5W8XJ7M2N3P4R5S6T7';
const acceptedAtMs = Date.UTC(2026, 10, 22, 10);

function dispatchOf(total: number, repeats: readonly Repeat[] = []) {
  const head: DispatchHead = {
    ...{ dispatchId, clientId: 1001, did: '5491100000001', wabaId: '2', phoneNumberId: '3', credential: 'main' },
    ...{
      throughputPerSecond: 80,
      path: 'messages',
      category: 'MARKETING',
      templateName: 'order_update',
      templateLanguage: 'en_US',
    },
    ...{ acceptedAtMs, total },
  };
  const recipients = new Map(Array.from({ length: total }, (_, index) => [index, `549${index}`]));
  return { head, repeats, recipients };
}

/** Recipients are named by numbers; repeated numbers are duplicates. */
const anyRequest = fc.array(fc.nat(15), { minLength: 1, maxLength: 60 });

function dispatchOfRequest(request: readonly number[]) {
  const { kept, repeats } = withoutDuplicates(request.map((name) => ({ to: `549000${name}` })));
  return { ...dispatchOf(kept.length, repeats), recipients: new Map(kept.map(({ to }, index) => [index, to])) };
}

const costNow = () => noCost;
const stateAt = (index: number) => reportedStates[index % reportedStates.length] as (typeof reportedStates)[number];
const outcomeAt = (index: number): ReportedOutcome => ({ messageId: `${dispatchId}-${index}`, state: stateAt(index) });

test.each([
  ['5491155550001', {}],
  ['US.1', { wa_id: '16505551234' }],
  [undefined, {}],
])('the row of %s has the user id that was told, and a number that was not given', (to, number) => {
  const outcome = { messageId: `${dispatchId}-0`, state: 'sent', userId: 'US.1', waId: '16505551234' } as const;
  const dispatch = { ...dispatchOf(1), recipients: new Map(to === undefined ? [] : [[0, to]]) };
  const { rows } = reportPage(
    dispatch,
    { dispatchId, states: undefined, limit: 1 },
    { costNow, outcomeAt: () => outcome },
  );
  expect(rows).toEqual([{ index: 0, to, user_id: 'US.1', ...number, state: 'sent' }]);
});

describe('every recipient of the request has one row and is in one count (D40)', () => {
  const anyStates = fc.option(fc.subarray([...reportedStates], { minLength: 1 }), { nil: undefined });

  test('whatever is repeated, filtered, and however it is paged', () => {
    fc.assert(
      fc.property(anyRequest, anyStates, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (...asked) => {
        const [request, states, limits] = asked;
        const dispatch = dispatchOfRequest(request);
        const rows = [];
        let from: ReportPlace | undefined;
        let counted: unknown;
        let pagesCosted = 0;
        for (let page = 0; ; page += 1) {
          const limit = limits[page % limits.length] ?? 1;
          const question = { dispatchId, states: statesOf(states), limit };
          const read = new Set(partitionsOf(question, from ?? dispatch.head.total));
          const answered = reportPage(dispatch, question, {
            from,
            costNow: () => ({ ...noCost, units: pagesCosted++ }),
            outcomeAt: (index) => {
              if (!read.has(Math.floor(index / 1_000))) throw new RangeError(`${index} was not read`);
              return outcomeAt(index);
            },
          });
          counted ??= answered.counts;
          expect(answered.counts).toEqual(counted);
          // Only the first page asks for the cost; later pages carry it on.
          expect([answered.cost.units, pagesCosted]).toEqual([0, 1]);
          rows.push(...answered.rows);
          expect(answered.rows.length).toBeLessThanOrEqual(limit);
          if (answered.next === undefined) break;
          from = reportPlaceOf(question, reportCursor(question, answered.next));
          expect(from).toEqual(answered.next);
          expect(isPlaceIn(dispatch, question, answered.next)).toBe(true);
        }
        const wanted = request.map((name, index) => {
          const first = request.indexOf(name);
          const row = { index, to: `549000${name}`, state: stateAt(new Set(request.slice(0, first)).size) };
          return first === index ? row : { ...row, duplicate_of: first };
        });
        expect(rows).toEqual(wanted.filter(({ state }) => states?.includes(state) ?? true));
        expect(Object.values(counted as object).reduce((sum, count) => sum + count, 0)).toBe(request.length);
      }),
    );
  });

  test('a duplicate far behind what it repeats has its partition read', () => {
    const dispatch = dispatchOf(9_999, [[9_999, 3]]);
    const question = { dispatchId, states: undefined, limit: 1_000 };
    const counts = reportPage(dispatch, { ...question, limit: 1 }, { outcomeAt, costNow }).counts;
    const from = { position: 9_000, index: 9_000, total: 9_999, counts, cost: noCost, repeatedPartitions: [0] };
    expect(
      reportPage(dispatch, question, { from: { ...from, position: 8_000, index: 8_000 }, outcomeAt, costNow }).next,
    ).toEqual(from);
    expect(partitionsOf(question, from)).toEqual([0, 9]);
    const { rows, next } = reportPage(dispatch, question, { from, outcomeAt, costNow });
    expect(rows.at(-1)).toEqual({ index: 9_999, to: '5493', state: stateAt(3), duplicate_of: 3 });
    expect(next).toBeUndefined();
    // Earlier counts stay: this page has not read the other partitions.
    const told = { ...from, counts: { ...counts, read: 77 } };
    expect(reportPage(dispatch, question, { from: told, outcomeAt, costNow }).counts).toEqual(told.counts);
  });
});

describe('a dispatch in another order than its request (D56)', () => {
  const total = 2_500;
  /** Every other recipient is in the second lot; one place in the middle repeats the first. */
  const repeats: readonly Repeat[] = [[1_201, 0]];
  const places = Array.from({ length: total + 1 }, (_, position) => position).filter((position) => position !== 1_201);
  const positions = [...places.filter((_, at) => at % 2 === 0), ...places.filter((_, at) => at % 2 === 1)];
  const dispatch = { ...dispatchOf(total, repeats), positions };

  test.each([undefined, ['read', 'failed']])('has its rows in the order of the request, filtered by %j', (states) => {
    const rows = [];
    let from: ReportPlace | undefined;
    for (;;) {
      const question = { dispatchId, states: statesOf(states), limit: 700 };
      const read = partitionsOf(question, from ?? total);
      const page = reportPage(dispatch, question, {
        from,
        costNow,
        outcomeAt: (index) => {
          if (!read.includes(Math.floor(index / 1_000))) throw new RangeError(`${index} was not read`);
          return outcomeAt(index);
        },
      });
      rows.push(...page.rows);
      if (page.next === undefined) break;
      from = reportPlaceOf(question, reportCursor(question, page.next));
      expect(from).toEqual(page.next);
      expect(isPlaceIn(dispatch, question, page.next)).toBe(true);
    }
    const wanted = [...places, 1_201]
      .sort((one, other) => one - other)
      .map((position) => {
        const index = positions.indexOf(position === 1_201 ? 0 : position);
        const row = { index: position, to: `549${index}`, state: stateAt(index) };
        return position === 1_201 ? { ...row, duplicate_of: 0 } : row;
      });
    expect(rows).toEqual(wanted.filter(({ state }) => states?.includes(state) ?? true));
  });

  test('the last page asks for no more than the partitions it is in', () => {
    const { counts } = reportPage(dispatch, { dispatchId, states: undefined, limit: 1 }, { outcomeAt, costNow });
    const { next } = reportPage(dispatch, { dispatchId, states: undefined, limit: 2_499 }, { outcomeAt, costNow });
    expect(next).toEqual({ position: 2_499, index: total, total, counts, cost: noCost, repeatedPartitions: [1, 2] });
    expect(partitionsOf({ dispatchId, states: undefined, limit: 700 }, next as ReportPlace)).toEqual([1, 2]);
  });

  test('a place without a recipient is refused', () => {
    expect(() => placesOf({ ...dispatchOf(2), positions: [0, 3] })).toThrow(RangeError);
  });
});

test('what is scheduled says when, and the dispatch what was asked for (D56)', () => {
  const fromMs = acceptedAtMs + 86_400_000;
  const plain = dispatchOf(1);
  const dispatch = { ...plain, head: { ...plain.head, when: { asked: { window: '09:00-20:00' }, fromMs } } };
  const question = { dispatchId, states: undefined, limit: 1 };
  const page = reportPage(dispatch, question, {
    costNow,
    outcomeAt: () => ({ messageId: `${dispatchId}-0`, state: 'pending', code: 'scheduled', scheduledForMs: fromMs }),
  });
  expect(page.rows).toEqual([
    { index: 0, to: '5490', state: 'pending', code: 'scheduled', scheduled_for: '2026-11-23T10:00:00.000Z' },
  ]);
  expect(reportAnswer(dispatch, question, page)).toMatchObject({
    schedule: { window: '09:00-20:00', from: '2026-11-23T10:00:00.000Z' },
  });
  expect(reportAnswer(plain, question, page)).not.toMatchObject({ schedule: expect.anything() });
});

test('a later page reads what it shows, and what its filter may show', () => {
  const { counts } = reportPage(dispatchOf(10), { dispatchId, states: undefined, limit: 1 }, { outcomeAt, costNow });
  const from = { position: 1_700, index: 1_700, total: 10_000, counts, cost: noCost, repeatedPartitions: [] };
  expect(partitionsOf({ dispatchId, states: undefined, limit: 400 }, from)).toEqual([1, 2]);
  expect(partitionsOf({ dispatchId, states: statesOf(['read']), limit: 100 }, from)).toHaveLength(9);
  expect(partitionsOf({ dispatchId, states: undefined, limit: 100 }, 10_000)).toHaveLength(10);
});

test('a repeated recipient is shown as the client wrote it (D25), and not at all once the person is erased (D60)', () => {
  const question = { dispatchId, states: undefined, limit: 9 };
  const spelled = ['5215512345678', '525512345678', '+525512345678', '+5215512345678', '5215512345678'];
  const { kept, repeats } = withoutDuplicates(spelled.map((to) => ({ to })));
  const dispatch = { ...dispatchOf(1, repeats), recipients: new Map(kept.map(({ to }, index) => [index, to])) };
  const shown = (of: typeof dispatch) => reportPage(of, question, { outcomeAt, costNow }).rows.map(({ to }) => to);
  expect(shown(dispatch)).toEqual(spelled);
  expect(shown({ ...dispatch, recipients: new Map() })).toEqual(spelled.map(() => undefined));
});

test('repeats that no request can have are refused', () => {
  expect(() => placesOf(dispatchOf(2, [[0, 1]]))).toThrow(RangeError);
});

describe('a cursor', () => {
  const question: ReportQuery = { dispatchId, states: statesOf(['failed', 'unknown']), limit: 100 };
  const { counts } = reportPage(dispatchOf(10), question, { outcomeAt, costNow });
  const place = { position: 3, index: 3, total: 10, counts, cost: noCost, repeatedPartitions: [0] };
  const cursor = reportCursor(question, place);

  test('is short, and names its place however many rows and in whatever order the states are asked for', () => {
    expect(cursor).toMatch(/^[\w-]{1,220}$/);
    expect(reportPlaceOf({ dispatchId, states: statesOf(['unknown', 'failed']) }, cursor)).toEqual(place);
  });

  test.each([
    ['of another dispatch', { ...question, dispatchId: '01K9ZQ4T5W8XJ7M2N3P4R5S6T8' }, cursor],
    ['of another filter', { ...question, states: statesOf(['failed']) }, cursor],
    ['of no filter', { ...question, states: undefined }, cursor],
    ['cut short', question, cursor.slice(0, -2)],
    ['with a letter changed', question, `${cursor.slice(0, 20)}${cursor[20] === 'A' ? 'B' : 'A'}${cursor.slice(21)}`],
    ['of no report', question, 'YWJj'],
    ['that is no base64url', question, 'ü'],
    ['that is endless', question, 'A'.repeat(100_000)],
  ])('%s is none', (_, asked, text) => {
    expect(reportPlaceOf(asked, text)).toBeUndefined();
  });

  test('with numbers that no dispatch has is none', () => {
    const wrong = [{ position: -1 }, { position: 10_001 }, { index: 0.5 }, { repeatedPartitions: [10] }];
    for (const change of wrong) {
      expect(reportPlaceOf(question, reportCursor(question, { ...place, ...change }))).toBeUndefined();
    }
  });
});

test('a state that does not exist is named', () => {
  expect(() => statesOf(['sent', 'gone'])).toThrow(/state must be one of pending, .*; received "gone"$/);
  expect(() => statesOf(['deliverd'])).toThrow(/; received "deliverd"; did you mean delivered\?$/);
  expect(statesOf(undefined)).toBeUndefined();
});

test('the answer has the shape of D40', () => {
  const dispatch = dispatchOf(2, [[2, 0]]);
  const outcomes: ReportedOutcome[] = [
    {
      ...{ messageId: `${dispatchId}-0`, to: '5490', state: 'failed', code: '131026', reason: 'undeliverable' },
      ...{ platformMessageId: 'wamid.1', atMs: acceptedAtMs + 5_000 },
    },
    { messageId: `${dispatchId}-1`, state: 'pending' },
  ];
  const question = { dispatchId, states: undefined, limit: 2 };
  const page = reportPage(dispatch, question, {
    costNow: () => ({ units: 7_830_000, basis: 'platform', final: false }),
    outcomeAt: (index) => outcomes[index] as ReportedOutcome,
  });
  const answer = reportAnswer({ head: { ...dispatch.head, campaignId: 7 } }, question, page);
  const facts = { ...{ to: '5490', state: 'failed', code: '131026', reason: 'undeliverable' } };
  expect(answer).toEqual({
    dispatch_id: dispatchId,
    client_id: 1001,
    did: '5491100000001',
    template: { name: 'order_update', language: 'en_US' },
    campaign_id: 7,
    accepted_at: '2026-11-22T10:00:00.000Z',
    total: 3,
    counts: { pending: 1, held: 0, sent: 0, delivered: 0, read: 0, failed: 2, expired: 0, unknown: 0 },
    complete: false,
    cost: { amount: 0.0783, currency: 'USD', basis: 'platform', final: false },
    data: [
      { index: 0, ...facts, platform_message_id: 'wamid.1', updated_at: '2026-11-22T10:00:05.000Z' },
      { index: 1, to: '5491', state: 'pending' },
    ],
    paging: { cursors: { after: expect.stringMatching(/^[\w-]+$/) } },
  });
});
