import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';

export interface InFlightDelivery {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly attributes?: { readonly ApproximateReceiveCount: string };
}

/** Rejects when SQS cannot be reached. */
export interface VisibilityQueue {
  postpone(receiptHandle: string, seconds: number): Promise<void>;
  hold(receiptHandles: readonly string[], seconds: number): Promise<void>;
}

/** If the run dies, its messages become visible after this time. */
const heldSeconds = 30;
const renewEveryMs = 15_000;

/**
 * Codes are held at once. Most other runs end earlier, and each request is billed. The price is that after an earlier
 * death messages wait for the visibility timeout.
 */
export const firstHeartbeatMs = { codes: 0, others: 2_000 } as const;

/**
 * Returns ms, 0 for a one-time code of a small request. Searches raw text, because JSON escapes inner quotes; `attends`
 * with this text is held early.
 */
export function firstHeartbeatOf(deliveries: readonly { readonly body: string }[]): number {
  const hasCode = deliveries.some(({ body }) => body.includes('"urgent":true'));
  return hasCode ? firstHeartbeatMs.codes : firstHeartbeatMs.others;
}

/** The delay grows with each failure: SQS gives up after the fifth, and an outage may last longer. */
const firstFailureSeconds = 30;
const longestFailureSeconds = 900;

export interface VisibilityHeartbeat {
  /** Ends the run: failed deliveries return after a backoff. Never throws. */
  end(failedIds: readonly string[]): Promise<void>;
}

interface HoldingPorts {
  readonly queue: VisibilityQueue;
  readonly pause: (ms: number) => Promise<void>;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/**
 * Keeps a run's deliveries invisible from `afterMs` on. The visibility timeout, which covers the longest run, is far
 * longer than a crash should cost; it applies before, and when a hold fails.
 */
export function startHeartbeat(
  deliveries: readonly InFlightDelivery[],
  { queue, pause, log }: HoldingPorts,
  afterMs: number,
): VisibilityHeartbeat {
  const held = new Map(deliveries.map((delivery) => [delivery.receiptHandle, delivery]));
  let ended = false;
  let holding = afterMs === 0 ? hold() : Promise.resolve();
  void renew();

  async function hold(): Promise<void> {
    const handles = [...held.keys()];
    if (handles.length === 0) return;
    await queue.hold(handles, heldSeconds).catch((error: unknown) => {
      log('send.postpone_failed', { count: handles.length, error: errorName(error) });
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
    // The later of two requests wins, so this one waits for the hold.
    await holding;
    await queue.postpone(receiptHandle, seconds);
  };

  return {
    end: async (failedIds) => {
      ended = true;
      const failed = [...held.values()].filter(({ messageId }) => failedIds.includes(messageId));
      await Promise.all(
        failed.map(async (delivery) => {
          await postpone(delivery.receiptHandle, failureSeconds(delivery)).catch((error: unknown) => {
            log('send.postpone_failed', { count: 1, error: errorName(error) });
          });
        }),
      );
      await holding;
    },
  };
}

function failureSeconds({ attributes }: InFlightDelivery): number {
  const receives = Number(attributes?.ApproximateReceiveCount ?? 1);
  return Math.min(longestFailureSeconds, firstFailureSeconds * 3 ** (receives - 1));
}
