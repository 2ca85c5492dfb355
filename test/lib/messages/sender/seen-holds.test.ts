import { expect, test } from 'vitest';
import { type Holds, noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import { seenHolds } from '../../../../lib/messages/sender/seen-holds.ts';

/** A sender sees the holds that its own slices write, without another read (D46). */

const nowMs = 1_800_000_000_000;
const rule = opened('waba', { code: '368', nowMs });

test('what is stored after a change is seen, and a change that lost to others is not', async () => {
  const saw: [string, Holds][] = [];
  let stored: Holds | undefined = noHolds;
  const wabas = seenHolds(
    {
      change: async (_, change) => {
        stored &&= change(stored);
        return stored;
      },
      takeProbe: async () => ({ sinceMs: 7 }) as never,
    },
    (...seen) => void saw.push(seen),
  );
  const after = await wabas.change('w-1', rule);
  expect(Object.keys(after?.holds ?? {})).toEqual(['waba']);
  expect(saw).toEqual([['w-1', after]]);
  stored = undefined;
  expect(await wabas.change('w-1', rule)).toBeUndefined();
  expect(saw.length).toBe(1);
  expect(await wabas.takeProbe('w-1', {} as never)).toEqual({ sinceMs: 7 });
});
