import type { WakeSender } from '../dispatch/sender-wake-queue.ts';
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
 * Returns the ports by which a run wakes others and itself: as many parts as the number's limit needs by now, once the
 * run has read it. What a part leaves that is no more is another part's.
 */
export function wakingByLimit(
  { of: ofOwn }: SenderKey,
  { wake, limitOf }: { readonly wake: WakeSender; readonly limitOf: SenderPorts['limitOf'] },
): Pick<SenderPorts, 'wake' | 'limitOf'> {
  let of = ofOwn;
  return {
    limitOf: async (dispatch) => {
      const limitPerSecond = await limitOf(dispatch);
      of = sendersOf(limitPerSecond);
      return limitPerSecond;
    },
    wake: ({ phoneNumberId, part }, delaySeconds) => wake({ phoneNumberId, part: part % of, of }, delaySeconds),
  };
}
