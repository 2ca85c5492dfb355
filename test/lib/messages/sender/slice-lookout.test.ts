import { expect, test } from 'vitest';
import { callFactsOf } from '../../../../lib/messages/dispatch/call-facts.ts';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import { noHolds } from '../../../../lib/messages/holds/hold.ts';
import { SliceLookout } from '../../../../lib/messages/sender/slice-lookout.ts';
import { scenarioHead } from '../../../support/scenario-dispatch.ts';

/** All slices of a dispatch share what is known of it, and replies come in any order (D53, D60). */
test('a look that was read before a stop and an erasure, and comes later, makes nobody callable again', async () => {
  const facts = callFactsOf(scenarioHead, { limitPerSecond: 80 });
  const { dispatchId } = facts;
  const hand = { dispatchId, facts, state: {} as DispatchItemState, sizeOf: () => 1 };
  const recipients = new Map([[0, { index: 0, to: '5491100000001' }]]);
  const stop = { state: 'failed', code: 'cancelled', atMs: 1 } as const;
  const replies: ((state: DispatchItemState) => void)[] = [];
  type Ports = ConstructorParameters<typeof SliceLookout>[2]['ports'];
  const ports = {
    dispatches: {
      look: async () => {
        const state = await new Promise<DispatchItemState>((resolve) => replies.push(resolve));
        return { holds: noHolds, dispatches: new Map([[dispatchId, state]]), anyStops: false };
      },
    },
    process: { nowMs: () => 1, log: () => undefined },
  } as unknown as Ports;
  const number = { saw: () => undefined } as unknown as ConstructorParameters<typeof SliceLookout>[2]['number'];
  const [older, newer] = [1, 2].map(() => new SliceLookout(hand, recipients, { number, ports }));
  const looks = [older?.look(), newer?.look()];
  replies[1]?.({ stop, erased: new Set([0]) });
  await looks[1];
  replies[0]?.({ parked: { code: '368', scope: 'waba', sinceMs: 1 } });
  await looks[0];
  expect(hand.state).toMatchObject({ stop, erased: new Set([0]) });
  expect([...(older?.barred.keys() ?? [])]).toEqual([0]);
  // Whatever else is known, a stop that is read counts.
  hand.state = { erased: new Set([0]) };
  const again = older?.look();
  replies[2]?.({ stop });
  await again;
  expect(hand.state).toMatchObject({ stop, erased: new Set([0]) });
});
