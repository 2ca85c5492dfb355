import { nameOf } from '../../observe/name-of.ts';
import type { DispatchMessage } from '../job.ts';
import { type NumberPace, recipientHashOf, slowedDown, withBlocked } from '../pace/number-pace.ts';
import { type Pace, retryDelaySeconds, triesOf } from '../pace/pacing.ts';
import type { DispatchPorts } from './dispatch-ports.ts';

/** What the calls of one batch teach about the pace of their numbers. Nothing of it is worth failing for: it is logged. */
export interface PaceLearning {
  /** The number is at its limit: slower for everybody, once a batch. */
  slowDown(message: DispatchMessage): Promise<void>;
  /** The platform refused this message for now. */
  refused(message: DispatchMessage, pace: Pace): Promise<void>;
}

export function paceLearning(ports: Pick<DispatchPorts, 'paces' | 'nowMs' | 'log'>): PaceLearning {
  const slowed = new Map<string, Promise<void>>();
  const change = async ({ phoneNumberId }: DispatchMessage, to: (pace: NumberPace, atMs: number) => NumberPace) => {
    const nowMs = ports.nowMs();
    try {
      await ports.paces.change(phoneNumberId, undefined, (pace, waitedMs) => {
        return { pace: to(pace, nowMs + waitedMs), result: undefined };
      });
    } catch (error) {
      ports.log('dispatch.pace_failed', { count: 1, error: nameOf(error) });
    }
  };
  const slowDown = (message: DispatchMessage) => {
    const { phoneNumberId, limitPerSecond } = message;
    const known = slowed.get(phoneNumberId);
    if (known !== undefined) return known;
    const slower = change(message, (pace, atMs) => slowedDown(pace, limitPerSecond, atMs));
    slowed.set(phoneNumberId, slower);
    return slower;
  };
  return {
    slowDown,
    refused: async (message, pace) => {
      if (pace === 'throughput') await slowDown(message);
      const to = message.request.to ?? message.request.recipient;
      if (pace !== 'pair' || to === undefined) return;
      // As long as this message waits, others to the same person wait with it.
      const waitMs = 1_000 * retryDelaySeconds({ pace, attempt: triesOf(message, pace) }, 0);
      await change(message, (known, atMs) => withBlocked(known, recipientHashOf(to), atMs + waitMs, atMs));
    },
  };
}
