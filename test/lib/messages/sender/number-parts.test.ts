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
  let limitPerSecond: number | undefined = 1_000;
  const ports = wakingByLimit(
    { phoneNumberId, part: 0, of: 1 },
    { wake: async (wakes) => void sent.push(wakes), limitOf: async () => limitPerSecond },
  );
  await ports.wake([0], 36);
  expect(await ports.limitOf({} as StoredDispatch)).toBe(1_000);
  await ports.wake([5, 6], 0);
  limitPerSecond = undefined;
  // It keeps what it knows.
  expect(await ports.limitOf({} as StoredDispatch)).toBe(1_000);
  limitPerSecond = 200;
  await ports.limitOf({} as StoredDispatch);
  // A part that is no more passes its work on.
  await ports.wake([5, 7], 0);
  expect(sent).toEqual([
    [{ phoneNumberId, part: 0, of: 1, delaySeconds: 36 }],
    [
      { phoneNumberId, part: 5, of: 8, delaySeconds: 0 },
      { phoneNumberId, part: 6, of: 8, delaySeconds: 0 },
    ],
    [{ phoneNumberId, part: 1, of: 2, delaySeconds: 0 }],
  ]);
});

test('a run that knows no limit keeps the parts of its wake, and calls at the provisioned pace (D43)', async () => {
  const sent: unknown[] = [];
  const ports = wakingByLimit(
    { phoneNumberId, part: 3, of: 8 },
    { wake: async (wakes) => void sent.push(...wakes), limitOf: async () => undefined },
  );
  const { head } = { head: { throughputPerSecond: 250 } } as StoredDispatch;
  expect(await ports.limitOf({ head } as StoredDispatch)).toBe(250);
  await ports.wake([3], 36);
  expect(sent).toEqual([{ phoneNumberId, part: 3, of: 8, delaySeconds: 36 }]);
});
