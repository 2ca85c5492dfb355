import { afterEach, expect, test, vi } from 'vitest';
import { inTimeLeft } from '../../../../lib/messages/accept/answer-deadline.ts';

afterEach(() => vi.restoreAllMocks());

test.each([
  [29_000, 2_000],
  [6_501, 2_000],
  [6_499, 1_999],
  [4_501, 1],
])('with %i ms left a write has %i ms, and its answer counts', async (remainingMs, limitMs) => {
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
  const write = vi.fn(async () => undefined);
  await inTimeLeft(() => remainingMs, write);
  expect(timeout.mock.calls).toEqual([[limitMs]]);
  expect(write.mock.calls).toEqual([[timeout.mock.results[0]?.value]]);
  const refused = new Error('refused');
  await expect(
    inTimeLeft(
      () => remainingMs,
      () => Promise.reject(refused),
    ),
  ).rejects.toBe(refused);
});

test('a write that goes on after its time is not waited for', async () => {
  const ended = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(ended.signal);
  const waited = inTimeLeft(
    () => 29_000,
    () => new Promise(() => undefined),
  );
  const reason = new Error('its time is over');
  ended.abort(reason);
  await expect(waited).rejects.toBe(reason);
});

test.each([4_500, 3_000, 0])('with %i ms left it is not begun', async (remainingMs) => {
  const write = vi.fn(async () => undefined);
  await expect(inTimeLeft(() => remainingMs, write)).rejects.toThrow('too little time left');
  expect(write).not.toHaveBeenCalled();
});
