import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { DispatchItemSchema, dispatchItemIn, stateOf } from '../../../../lib/messages/dispatch/item.ts';
import {
  byDispatchState,
  cancelled,
  longestParkMs,
  parkDelaySeconds,
} from '../../../../lib/messages/dispatch/item-state.ts';

const parked = { code: 'template_paused', scope: 'template', sinceMs: 100_000 } as const;

describe('what the state of a dispatch makes of a claimed message (D46, D53)', () => {
  test('without one it is sent', () => {
    expect(byDispatchState({}, {}, 0)).toEqual({ kind: 'send' });
  });

  test('a stop settles it, whatever else is written', () => {
    const stop = { ...cancelled(5), reason: 'why' };
    expect(byDispatchState({ stop, parked }, { expiresAtMs: 1 }, 200_000)).toEqual({
      kind: 'settle',
      settlement: { state: 'failed', code: 'cancelled', reason: 'why' },
    });
  });

  test('of a send with a time of its own the day has only the hours in which some of its lots were open (D56)', () => {
    const hourMs = 3_600_000;
    const open = (fromHour: number, hours: number) =>
      [parked.sinceMs + fromHour * hourMs, parked.sinceMs + (fromHour + hours) * hourMs] as const;
    // One lot is open ten hours a day, and the other from the eighth hour on: 12 hours a day together.
    const lots = [
      { until: 5, open: [open(0, 10), open(24, 10), open(48, 10)] },
      { until: 9, open: [open(8, 4), open(32, 4), open(56, 4)] },
    ];
    const endMs = parked.sinceMs + 36 * hourMs;
    expect(byDispatchState({ parked }, { lots }, endMs - 1)).toMatchObject({ kind: 'wait' });
    expect(byDispatchState({ parked }, { lots }, endMs)).toMatchObject({ kind: 'settle' });
    expect(byDispatchState({ parked }, { lots, expiresAtMs: endMs - 1 }, endMs - 1)).toMatchObject({ kind: 'settle' });
  });

  test('it waits for its template, and expires with its own time or after a day', () => {
    const waits = { kind: 'wait', delaySeconds: 15 };
    const expires = { kind: 'settle', settlement: { state: 'expired', code: 'template_paused' } };
    expect(byDispatchState({ parked }, {}, 100_000)).toEqual(waits);
    expect(byDispatchState({ parked }, { expiresAtMs: 130_000 }, 129_999)).toEqual(waits);
    expect(byDispatchState({ parked }, { expiresAtMs: 130_000 }, 130_000)).toEqual(expires);
    expect(byDispatchState({ parked }, {}, 100_000 + longestParkMs - 1)).toEqual({ kind: 'wait', delaySeconds: 120 });
    expect(byDispatchState({ parked }, {}, 100_000 + longestParkMs)).toEqual(expires);
    expect(byDispatchState({ parked }, { expiresAtMs: 10 ** 12 }, 100_000 + longestParkMs)).toEqual(expires);
  });
});

test('the next try of a held message comes after a quarter of its waiting, 15 s at least and 2 min at most', () => {
  // The worker's clock may be behind the clock that parked the dispatch, so the delay counts from a later time.
  expect([-5_000, 0, 60_000, 60_001, 100_000, 480_000, 10 ** 9].map(parkDelaySeconds)).toEqual([
    15, 15, 15, 16, 25, 120, 120,
  ]);
});

describe('the state of a dispatch, as its item holds it', () => {
  const stop = { state: 'failed', code: 'cancelled', atMs: 5 } as const;

  test.each([
    [{ head: '{}', queued: 3 }, { begun: true }],
    [
      { stop, head: '{}' },
      { begun: true, stop },
    ],
    [
      { stop: { ...stop, state: 'expired', reason: 'why' }, parked, underWay: { '3': 1 } },
      { stop: { ...stop, state: 'expired', reason: 'why' }, parked, underWay: { '3': 1 } },
    ],
  ])('%j is read', (item, state) => {
    expect(stateOf(dispatchItemIn(item))).toEqual(state);
  });

  test.each([
    [{ stop: { ...stop, state: 'sent' } }],
    [{ stop: { state: 'failed', code: 'cancelled' } }],
    [{ stop: { ...stop, code: 7 } }],
    [{ parked: { ...parked, scope: 'client' } }],
    [{ parked: { code: parked.code } }],
    [{ underWay: { '3': 'then' } }],
  ])('%j is none', (item) => {
    expect(v.is(DispatchItemSchema, item)).toBe(false);
  });
});
