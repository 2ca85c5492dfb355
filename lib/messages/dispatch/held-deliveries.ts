import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';

/** One delivery of a queue message. */
export interface HeldDelivery {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly attributes?: { readonly ApproximateReceiveCount: string };
}

/** Both throw when the queue cannot be reached. */
interface VisibilityQueue {
  /** Sets when a delivery that is reported failed becomes visible again. */
  postpone(receiptHandle: string, seconds: number): Promise<void>;
  /** The same of up to ten deliveries that are being worked off. */
  hold(receiptHandles: readonly string[], seconds: number): Promise<void>;
}

/** A run that dies leaves its messages invisible for no longer than this, once it has held them. */
const heldSeconds = 30;
const renewEveryMs = 15_000;

/**
 * When a run holds its deliveries first. A code is worth a request of the queue for each run. Any other chunk is held when its
 * run lasts: most runs are over by then, and the request would be one of the five that SQS bills. Price: of a run that dies
 * before, as of one that dies while it starts, the messages come when the queue's own time-out ends.
 */
export const firstHoldMs = { codes: 0, others: 2_000 } as const;

/**
 * When a run with these deliveries holds them first, in milliseconds: at once where a one-time code of a small request is among
 * them. The text tells, for JSON escapes quotes inside of strings; `attends` of a client that says the same is held too early.
 */
export function firstHoldOf(
  deliveries: readonly { readonly body: string }[],
  { isOfSmallRequests }: { readonly isOfSmallRequests: boolean },
): number {
  const hasCode = isOfSmallRequests && deliveries.some(({ body }) => body.includes('"urgent":true'));
  return hasCode ? firstHoldMs.codes : firstHoldMs.others;
}

/** A failed delivery comes again later each time: the queue gives up after the fifth, and an outage may last longer. */
const firstFailureSeconds = 30;
const longestFailureSeconds = 900;

export interface HeldDeliveries {
  /** Instead of the queue's own: what is postponed is held no more. */
  readonly postpone: VisibilityQueue['postpone'];
  /** The run is over; those that failed come again after a time of their own. Never throws. */
  end(failedIds: readonly string[]): Promise<void>;
}

interface HoldingPorts {
  readonly queue: VisibilityQueue;
  readonly pause: (ms: number) => Promise<void>;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/**
 * Keeps the deliveries of a run invisible while it works, and not much longer: the queue's own time-out has to cover the
 * longest run of the function, many times what a crash should cost. From `afterMs` after the start on (`firstHoldMs`);
 * before that, and where a hold fails, the queue's time-out holds.
 */
export function holdDeliveries(
  deliveries: readonly HeldDelivery[],
  { queue, pause, log }: HoldingPorts,
  afterMs: number,
): HeldDeliveries {
  const held = new Map(deliveries.map((delivery) => [delivery.receiptHandle, delivery]));
  let ended = false;
  let holding = afterMs === 0 ? hold() : Promise.resolve();
  void renew();

  async function hold(): Promise<void> {
    const handles = [...held.keys()];
    if (handles.length === 0) return;
    await queue.hold(handles, heldSeconds).catch((error: unknown) => {
      log('dispatch.postpone_failed', { count: handles.length, error: nameOf(error) });
    });
  }

  async function renew(): Promise<void> {
    for (let waitMs = afterMs === 0 ? renewEveryMs : afterMs; ; waitMs = renewEveryMs) {
      await pause(waitMs);
      if (ended) return;
      holding = hold();
      await holding;
    }
  }

  const postpone: VisibilityQueue['postpone'] = async (receiptHandle, seconds) => {
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

function failureSeconds({ attributes }: HeldDelivery): number {
  const receives = Number(attributes?.ApproximateReceiveCount ?? 1);
  return Math.min(longestFailureSeconds, firstFailureSeconds * 3 ** (receives - 1));
}
