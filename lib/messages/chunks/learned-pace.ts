import { nameOf } from '../../observe/name-of.ts';
import type { QueuedChunk } from '../chunk.ts';
import { type NumberPace, recipientHashOf, slowedDown, withBlocked } from '../pace/number-pace.ts';
import { type Pace, retryDelaySeconds } from '../pace/pacing.ts';
import { blocksAt } from '../pace/schedule.ts';
import type { ChunkWorkerPorts } from './chunk-ports.ts';

type Number = Pick<QueuedChunk, 'phoneNumberId' | 'limitPerSecond'>;

/** What the calls of one run teach about the pace of their numbers. Nothing of it is worth failing for: it is logged. */
export interface PaceLearning {
  /** The number is at its limit: slower for everybody, once a run. */
  slowDown(number: Number): Promise<void>;
  /** The platform refused a message to that person for now, for the so manieth time. */
  refused(
    number: Number,
    refusal: { readonly to: string; readonly pace: Pace; readonly attempt: number },
  ): Promise<void>;
}

export function paceLearning(ports: Pick<ChunkWorkerPorts, 'paces' | 'nowMs' | 'log'>): PaceLearning {
  const slowed = new Map<string, Promise<void>>();
  const change = async ({ phoneNumberId }: Number, to: (pace: NumberPace, atMs: number) => NumberPace) => {
    const nowMs = ports.nowMs();
    try {
      await ports.paces.change(phoneNumberId, undefined, (pace, waitedMs) => {
        return { pace: to(pace, nowMs + waitedMs), result: undefined };
      });
    } catch (error) {
      ports.log('dispatch.pace_failed', { count: 1, error: nameOf(error) });
    }
  };
  const slowDown = (number: Number) => {
    const { phoneNumberId, limitPerSecond } = number;
    const known = slowed.get(phoneNumberId);
    if (known !== undefined) return known;
    const slower = change(number, (pace, atMs) => slowedDown(pace, limitPerSecond, atMs, blocksAt));
    slowed.set(phoneNumberId, slower);
    return slower;
  };
  return {
    slowDown,
    refused: async (number, { to, pace, attempt }) => {
      if (pace === 'throughput') await slowDown(number);
      if (pace !== 'pair') return;
      // As long as this message waits, others to the same person wait with it.
      const waitMs = 1_000 * retryDelaySeconds({ pace, attempt }, 0);
      await change(number, (known, atMs) => withBlocked(known, recipientHashOf(to), atMs + waitMs, atMs));
    },
  };
}
