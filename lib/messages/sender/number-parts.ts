import type { DispatchHead } from '../dispatch/head.ts';
import type { WakeSenders } from '../dispatch/sender-wake-queue.ts';
import { provisionedLimitOf } from '../pace/limit-of-dispatch.ts';
import type { SenderKey, SenderPorts } from './sender-ports.ts';

/** One sender makes so many calls a second, at most: `npm run bench -- sender-rate` finds what its memory allows. */
export const callsOfSender = 125;
/** Dispatches leave at this share of a number's limit. */
const shareOfLimit = 0.9;

/** Returns how many senders a number needs. `limitPerSecond` counts messages. */
export function sendersOf(limitPerSecond: number): number {
  return Math.max(1, Math.ceil((shareOfLimit * limitPerSecond) / callsOfSender));
}

/**
 * Returns the ports by which a run wakes others and itself: as many parts as the last limit needs that the run could
 * read. What a part leaves that is no more is another part's.
 */
export function wakingByLimit(
  { phoneNumberId, of: ofOwn }: SenderKey,
  {
    wake,
    limitOf,
  }: {
    readonly wake: WakeSenders;
    /** Returns undefined while the limit cannot be read. Never throws. */
    readonly limitOf: (head: DispatchHead) => Promise<number | undefined>;
  },
): Pick<SenderPorts, 'wake' | 'limitOf'> {
  let known: number | undefined;
  return {
    limitOf: async ({ head }) => {
      known = (await limitOf(head)) ?? known;
      return known ?? provisionedLimitOf(head);
    },
    wake: async (parts, delaySeconds) => {
      const of = known === undefined ? ofOwn : sendersOf(known);
      const own = new Set(parts.map((part) => part % of));
      await wake([...own].map((part) => ({ phoneNumberId, part, of, delaySeconds })));
    },
  };
}
