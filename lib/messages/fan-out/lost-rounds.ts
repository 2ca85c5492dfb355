import { blockingLease } from '../../aws/lease.ts';
import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { RoundMessage } from '../accept/round-message.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { RoundRecord } from '../dispatch/item.ts';
import { roundAfterLast } from './dispatch-rounds.ts';

// A scheduled send may wait for thirty days in a chain of round messages (D56). If one is lost (purged queue, removed
// dead letter), the dispatch is stuck. So overdue rounds are queued again.

// That is harmless for a message that is only late: the second finds the round over.

// Only dispatches that have begun are found. An undecided one could be sent twice; its own message or a repeated
// Idempotency-Key decides it (D25).

/** A round this late is lost: longer than the longest queue delay, and than the fan-out's longest backoff. */
export const lostAfterMs = 1_200_000;

export interface ScheduledDispatch {
  readonly head: Pick<DispatchHead, 'dispatchId' | 'clientId' | 'acceptedAtMs' | 'correlationId'>;
  /** Without it, the first round was never taken. */
  readonly round?: RoundRecord;
}

/** The item of this scheduled dispatch cannot be read. */
export interface UnreadableDispatch {
  readonly dispatchId: string;
  readonly error: unknown;
}

export interface LostRoundsPorts {
  readonly scheduled: {
    /** Yields pages of scheduled dispatches that may still wait, without forgotten ones. */
    all(): AsyncIterable<readonly (ScheduledDispatch | UnreadableDispatch)[]>;
    leave(dispatchId: string): Promise<void>;
  };
  readonly sendAgain: (message: RoundMessage, delaySeconds: number) => Promise<void>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

export function roundState({ round, head }: ScheduledDispatch, nowMs: number): 'over' | 'lost' | 'waiting' {
  if (round?.round === roundAfterLast) return 'over';
  if (blockingLease(round?.lease, '', nowMs) !== undefined) return 'waiting';
  // A dead run leaves its lease; its message returns within a minute.
  const dueMs = round?.dueMs ?? round?.lease?.untilMs ?? head.acceptedAtMs;
  return nowMs - dueMs >= lostAfterMs ? 'lost' : 'waiting';
}

/**
 * Queues the messages of lost rounds again. Throws when table or queue cannot be reached: the next run looks again.
 * Throws after all others when an item cannot be read, so that the function's alarm tells it.
 */
export async function findLostRounds({ scheduled, sendAgain, nowMs, log }: LostRoundsPorts): Promise<void> {
  let unreadable = 0;
  for await (const dispatches of scheduled.all()) {
    for (const dispatch of dispatches) {
      if ('error' in dispatch) {
        unreadable += 1;
        log('dispatch.unreadable', { dispatchId: dispatch.dispatchId, error: errorName(dispatch.error) });
        continue;
      }
      const standing = roundState(dispatch, nowMs());
      const { dispatchId, clientId, acceptedAtMs, correlationId } = dispatch.head;
      if (standing === 'over') await scheduled.leave(dispatchId);
      if (standing !== 'lost') continue;
      const round = dispatch.round?.round;
      await sendAgain({ dispatchId, clientId, acceptedAtMs, correlationId, round }, 0);
      count('RoundsLost');
      log('dispatch.round_lost', { dispatchId, clientId });
    }
  }
  if (unreadable > 0)
    throw new Error(`${unreadable} scheduled dispatches cannot be read: dispatch.unreadable names them`);
}
