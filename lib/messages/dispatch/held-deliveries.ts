import { nameOf } from '../../observe/name-of.ts';
import type { Delivery, DispatchPorts, DispatchQueue } from './dispatch-ports.ts';

/** A run that dies leaves its messages invisible for no longer than this. */
const heldSeconds = 30;
const renewEveryMs = 15_000;

/** A failed delivery comes again later each time: the queue gives up after the fifth, and an outage may last longer. */
const firstFailureSeconds = 30;
const longestFailureSeconds = 900;

export interface HeldDeliveries {
  /** Instead of the queue's own: what is postponed is held no more. */
  readonly postpone: DispatchQueue['postpone'];
  /** The run is over; those that failed come again after a time of their own. Never throws. */
  end(failedIds: readonly string[]): Promise<void>;
}

/**
 * Keeps the deliveries of a run invisible while it works, and not much longer: the queue's own time-out has to cover the
 * longest run of the function, many times what a crash should cost. Where that fails, the queue's time-out holds.
 */
export function holdDeliveries(
  deliveries: readonly Delivery[],
  { queue, pause, log }: Pick<DispatchPorts, 'queue' | 'pause' | 'log'>,
): HeldDeliveries {
  const held = new Map(deliveries.map((delivery) => [delivery.receiptHandle, delivery]));
  let ended = false;
  let holding = hold();
  void renew();

  async function hold(): Promise<void> {
    if (held.size === 0) return;
    await queue.hold([...held.keys()], heldSeconds).catch((error: unknown) => {
      log('dispatch.postpone_failed', { count: held.size, error: nameOf(error) });
    });
  }

  async function renew(): Promise<void> {
    for (;;) {
      await pause(renewEveryMs);
      if (ended) return;
      holding = hold();
      await holding;
    }
  }

  const postpone: DispatchQueue['postpone'] = async (receiptHandle, seconds) => {
    held.delete(receiptHandle);
    // Whichever comes last counts.
    await holding;
    await queue.postpone(receiptHandle, seconds);
  };

  return {
    postpone,
    end: async (failedIds) => {
      ended = true;
      const failed = [...held.values()].filter(({ messageId }) => failedIds.includes(messageId));
      await Promise.all(
        failed.map(async (delivery) => {
          await postpone(delivery.receiptHandle, failureSeconds(delivery)).catch((error: unknown) => {
            log('dispatch.postpone_failed', { count: 1, error: nameOf(error) });
          });
        }),
      );
      await holding;
    },
  };
}

function failureSeconds({ attributes }: Delivery): number {
  const receives = Number(attributes?.ApproximateReceiveCount ?? 1);
  return Math.min(longestFailureSeconds, firstFailureSeconds * 3 ** (receives - 1));
}
