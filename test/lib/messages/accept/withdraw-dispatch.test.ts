import { afterEach, expect, test, vi } from 'vitest';
import { withdrawDispatch } from '../../../../lib/messages/accept/withdraw-dispatch.ts';

afterEach(() => vi.restoreAllMocks());

test.each([
  [29_000, 3_000],
  [7_501, 3_000],
  [7_499, 2_999],
  [4_501, 1],
  [4_500, 0],
  [0, 0],
])('with %i ms left it has %i ms', async (remainingMs, limitMs) => {
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
  const withdraw = vi.fn(async () => 'begun' as const);
  expect(await withdrawDispatch('J', { acceptance: { withdraw }, remainingMs: () => remainingMs })).toBe('begun');
  expect(timeout.mock.calls).toEqual([[limitMs]]);
  expect(withdraw.mock.calls).toEqual([['J', timeout.mock.results[0]?.value]]);
});

test('one that cannot be written is not known to count, and says so (D25)', async () => {
  const cause = new Error('no table');
  const ports = { acceptance: { withdraw: () => Promise.reject(cause) }, remainingMs: () => 29_000 };
  await expect(withdrawDispatch('J', ports)).rejects.toMatchObject({ code: 'dispatch_undecided', cause });
});
