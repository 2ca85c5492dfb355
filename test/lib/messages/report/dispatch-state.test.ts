import { expect, test } from 'vitest';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { type DispatchState, dispatchState, dispatchStatesOf } from '../../../../lib/messages/report/dispatch-state.ts';
import { refused } from '../../../support/refused.ts';

const nowMs = 1_800_000_000_000;
const parked: DispatchItemState = { parked: { code: 'template_paused', scope: 'template', sinceMs: nowMs - 1 } };
const byClient: DispatchItemState = { stop: cancelled(nowMs) };
const byTemplate: DispatchItemState = { stop: { state: 'failed', code: '132016', atMs: nowMs } };

test.each<[string, DispatchState, DispatchItemState, number, number | undefined]>([
  ['that is under way', 'running', {}, 3, undefined],
  ['of which nothing is pending', 'complete', {}, 0, undefined],
  ['that waits for its time', 'scheduled', {}, 3, nowMs + 1],
  ['whose time has come', 'running', {}, 3, nowMs],
  ['that is held', 'held', parked, 3, undefined],
  ['that is held before its time', 'held', parked, 3, nowMs + 1],
  ['that was held and has ended', 'complete', parked, 0, undefined],
  ['that the client has cancelled', 'cancelled', byClient, 0, undefined],
  ['the same while some are under way', 'cancelled', { ...byClient, ...parked }, 3, undefined],
  ['the same before its time', 'cancelled', byClient, 3, nowMs + 1],
  ['that ends with its template', 'running', byTemplate, 3, undefined],
  ['the same before its time, though it was held', 'running', { ...byTemplate, ...parked }, 3, nowMs + 1],
  ['that has ended with its template', 'complete', byTemplate, 0, undefined],
])('a dispatch %s is %s (D59)', (_, expected, state, pending, fromMs) => {
  expect(dispatchState({ fromMs, state, counts: { pending } }, nowMs)).toBe(expected);
});

test('a filter names states, and another word is refused by name', () => {
  expect(dispatchStatesOf(undefined)).toBeUndefined();
  expect(dispatchStatesOf(['running', 'held', 'running'])).toEqual(['held', 'running']);
  expect(refused(() => dispatchStatesOf(['held', 'paused']))).toMatchObject({
    code: 'invalid_request',
    details: { errors: [{ path: 'state', message: expect.stringContaining('received "paused"') }] },
  });
});
