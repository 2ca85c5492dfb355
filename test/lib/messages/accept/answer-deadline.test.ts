import { afterEach, expect, test, vi } from 'vitest';
import { inTime } from '../../../../lib/messages/accept/answer-deadline.ts';

afterEach(() => vi.restoreAllMocks());

test.each([
  [29_000, 4_000],
  [12_500, 4_000],
  [12_498, 3_999],
  [4_502, 1],
])(
  'with %i ms left a step has %i ms, at most half of what is left, and its value counts',
  async (remainingMs, limitMs) => {
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
    const step = vi.fn(async () => 'done');
    expect(await inTime(() => remainingMs, step)).toBe('done');
    expect(timeout.mock.calls).toEqual([[limitMs]]);
    expect(step.mock.calls).toEqual([[timeout.mock.results[0]?.value]]);
    const refused = new Error('refused');
    const refusing = () => Promise.reject(refused);
    await expect(inTime(() => remainingMs, refusing)).rejects.toBe(refused);
  },
);

test('a step that goes on after its time is not waited for', async () => {
  const ended = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(ended.signal);
  const hanging = () => new Promise(() => undefined);
  const waited = inTime(() => 29_000, hanging);
  const reason = new Error('its time is over');
  ended.abort(reason);
  await expect(waited).rejects.toBe(reason);
});

test.each([4_501, 3_000, 0])('with %i ms left it is not begun', async (remainingMs) => {
  const step = vi.fn(async () => undefined);
  await expect(inTime(() => remainingMs, step)).rejects.toThrow('too little time left');
  expect(step).not.toHaveBeenCalled();
});
