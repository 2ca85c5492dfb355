import { expect, test } from 'vitest';
import type { StoredDispatch } from '../../../../lib/messages/dispatch/whole-dispatch.ts';
import { sendersOf, wakingByLimit } from '../../../../lib/messages/sender/number-parts.ts';

test.each([
  [1, 1],
  [80, 1],
  [138, 1],
  [139, 2],
  [1_000, 8],
])('a number of %i a second has %i senders', (limit, senders) => expect(sendersOf(limit)).toBe(senders));

const phoneNumberId = '300000000000001';

test('a run wakes as many parts as it was woken among, and as the limit needs once it is read', async () => {
  const sent: unknown[] = [];
  let limitPerSecond = 1_000;
  const ports = wakingByLimit(
    { phoneNumberId, part: 0, of: 1 },
    { wake: async (...args) => void sent.push(args), limitOf: async () => limitPerSecond },
  );
  await ports.wake({ phoneNumberId, part: 0 }, 36);
  expect(await ports.limitOf({} as StoredDispatch)).toBe(1_000);
  await ports.wake({ phoneNumberId, part: 5 }, 0);
  limitPerSecond = 200;
  await ports.limitOf({} as StoredDispatch);
  // A part that is no more passes its work on.
  await ports.wake({ phoneNumberId, part: 5 }, 0);
  expect(sent).toEqual([
    [{ phoneNumberId, part: 0, of: 1 }, 36],
    [{ phoneNumberId, part: 5, of: 8 }, 0],
    [{ phoneNumberId, part: 1, of: 2 }, 0],
  ]);
});
