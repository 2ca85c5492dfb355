import { decodeTime } from 'ulid';
import { describe, expect, test } from 'vitest';
import {
  type Counts,
  campaignChoices,
  costInList,
  dispatchStates,
  endOf,
  type Found,
  failedWords,
  isCalledOff,
  merged,
  moneyOf,
  progressOf,
  type ReportRow,
  sharesOf,
  stateOf,
  timeOfDispatch,
  waitingOf,
  wasCalled,
} from '../console/dispatch-model.ts';

const none: Counts = { pending: 0, held: 0, sent: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };

function head(id: string, given: Partial<Found> = {}): Found {
  return {
    dispatch_id: id,
    client_id: 1001,
    did: '5491100000001',
    template: { name: 'order_update', language: 'en_US' },
    accepted_at: `2026-11-26T10:00:0${id}.000Z`,
    total: 10,
    counts: none,
    complete: true,
    cost: { amount: 0, currency: 'USD', basis: 'platform', final: true },
    state: 'complete',
    ...given,
  };
}
const row = (given: Partial<ReportRow>): ReportRow => ({ index: 0, state: 'pending', ...given });
const idsOf = (rows: readonly Found[]) => rows.map((each) => each.dispatch_id).join('');

describe('the bar', () => {
  test('one of 10,000 is seen, and all parts fill it, in the order of their states', () => {
    const shares = sharesOf({ ...none, failed: 1, read: 7_999, sent: 2_000 });
    expect(shares.map(({ state }) => state)).toEqual(['read', 'sent', 'failed']);
    expect(shares[2]?.percent).toBe(1);
    expect(shares.reduce((sum, { percent }) => sum + percent, 0)).toBeCloseTo(100);
    expect(sharesOf(none)).toEqual([]);
  });

  test('it is not done before the last one is', () => {
    const progress = (pending: number, total: number) => progressOf({ total, counts: { ...none, pending } });
    expect(progress(1, 10_000)).toEqual({ ended: 9_999, percent: 99 });
    expect(progress(0, 3)).toEqual({ ended: 3, percent: 100 });
  });
});

describe('the list', () => {
  const known = ['9', '7', '5', '3', '1'].map((id) => head(id));

  test('the newest page brings what is new and changed, leaves what is older and drops what is not in it any more', () => {
    const fresh = [head('9', { state: 'cancelled' }), head('8'), head('5')];
    const rows = merged(known, fresh, { isAll: false });
    expect([idsOf(rows), rows[0]?.state]).toEqual(['98531', 'cancelled']);
    expect(idsOf(merged(known, fresh, { isAll: true }))).toBe('985');
    expect(idsOf(merged(known, [], { isAll: true }))).toBe('');
    expect(merged(known, [], { isAll: false })).toBe(known);
  });

  test('dispatches of the same moment are neither lost nor repeated at a page border', () => {
    const atOnce = ['4', '3', '2'].map((id) => head(id, { accepted_at: head('4').accepted_at }));
    const all = [head('9'), ...atOnce, head('1')];
    expect(idsOf(merged(all, [head('9'), ...atOnce.slice(0, 2)], { isAll: false }))).toBe('94321');
  });

  test('an answer from further down leaves what is newer', () => {
    const span = { newest: head('5').accepted_at, isAll: false };
    expect(idsOf(merged(known, [head('5'), head('1')], span))).toBe('9751');
  });
});

describe('what a dispatch waits for', () => {
  test('each code of a hold, and the next opening of its hours', () => {
    const [late, soon] = ['2026-11-27T09:00:00.000Z', '2026-11-27T08:00:00.000Z'];
    const rows = [
      row({ code: '131031' }),
      row({ code: 'scheduled', scheduled_for: late }),
      row({ code: 'scheduled', scheduled_for: soon }),
      row({}),
      row({ state: 'failed', code: '131026' }),
    ];
    expect(waitingOf(rows)).toEqual({ holds: [{ code: '131031', count: 1 }], scheduled: 2, opensAt: soon });
  });

  test.each([
    ['held', [row({ code: '131031' }), row({})], 10, false, 'running'],
    ['scheduled', [row({ code: 'scheduled' })], 10, false, undefined],
    // The dispatch has begun and waits between two of its windows.
    ['running', [row({ code: 'scheduled' })], 4, false, undefined],
    ['running', [row({})], 10, false, undefined],
    ['complete', [], 0, true, 'running'],
    ['cancelled', [], 0, true, 'cancelled'],
  ] as const)('it is %s', (state, rows, pending, complete, listed) => {
    expect(stateOf(head('1', { counts: { ...none, pending }, complete }), rows, listed)).toBe(state);
  });

  test('the estimate uses the speed so far, and there is none while nothing moves', () => {
    const looks = [
      { atMs: 0, pending: 100 },
      { atMs: 10_000, pending: 75 },
    ];
    expect(endOf(looks)).toBe(40_000);
    expect(endOf(looks.slice(1))).toBeUndefined();
    expect(endOf([...looks, { atMs: 20_000, pending: 100 }])).toBeUndefined();
    expect(endOf([...looks, { atMs: 20_000, pending: 0 }])).toBeUndefined();
  });
});

test('the time in a dispatch id leads to it in the list, also where its acceptance took long', () => {
  const { from, to } = timeOfDispatch('01KAPQ5Z3M9T7V1XW2YB4C6D8E');
  const requestedMs = decodeTime('01KAPQ5Z3M9T7V1XW2YB4C6D8E');
  expect([Date.parse(from), Date.parse(to)]).toEqual([requestedMs - 2_000, requestedMs + 30_000]);
});

test('a cancelled dispatch is said to be cancelled, not failed', () => {
  expect(dispatchStates.map(failedWords)).toEqual([...Array(4).fill('failed'), 'cancelled or failed']);
  expect([{ code: 'cancelled' }, { code: 'opted_out' }, {}].map(isCalledOff)).toEqual([true, false, false]);
});

test('a campaign without a name is offered by its number, once', () => {
  const campaigns = new Map([[10, 'Onboarding']]);
  expect(campaignChoices(new Set([12]), { campaigns })).toEqual([
    ['10', 'Onboarding'],
    ['12', 'Campaign 12'],
  ]);
});

test('a phone or a refusal is looked for where the platform was called', () => {
  const called = [row({ state: 'failed', code: '131026' }), row({ state: 'unknown' }), row({ state: 'read' })];
  expect(called.map(wasCalled)).toEqual([true, true, true]);
  const notCalled = [row({ state: 'failed', code: 'opted_out' }), row({ state: 'failed', code: 'cancelled' }), row({})];
  expect(notCalled.map(wasCalled)).toEqual([false, false, false]);
});

test('small amounts are told to the hundredth of a cent', () => {
  const cost = { currency: 'USD', basis: 'platform', final: false } as const;
  expect(
    [{ amount: 0 }, { amount: 0, final: true }, { amount: 1.5 }].map((each) => costInList({ ...cost, ...each })),
  ).toEqual(['cost not counted yet', '0.00 USD', '1.50 USD']);
  expect([0, 0.0262, 1234.5].map((amount) => moneyOf(amount, 'USD'))).toEqual([
    '0.00 USD',
    '0.0262 USD',
    '1,234.50 USD',
  ]);
});
