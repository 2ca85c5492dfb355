import { openPlaces, type Slice } from '../dispatch/slice.ts';
import type { TriedSlice } from './slice-run.ts';

/** What a worker does with one small request. Each rejects when store, queue or platform cannot be reached. */
export interface SmallRequestPorts {
  /**
   * Makes the first try under a claim: claim, look, call at the places, end (send/claims/run-slice.ts), and tells its
   * endings. A claim counts as dead after a sender's life, not a worker's: both may hold it.
   */
  readonly tryOnce: (places: readonly number[]) => Promise<TriedSlice>;
  /** Counts the cost of an end that no receipt will report (D58). Is idempotent. */
  readonly countEnded: (ended: Slice) => Promise<void>;
  /** Stores parameters, recipients and record of the dispatch, as acceptance does. Is idempotent. */
  readonly store: () => Promise<void>;
  /** Begins the dispatch unless it was withdrawn. */
  readonly begin: () => Promise<'begun' | 'withdrawn'>;
  /** Puts its entry into the backlog unless it is there, one-time codes in front. It holds no recipient (D60). */
  readonly enter: () => Promise<void>;
  /** Is best effort: the sweeper finds the entry. */
  readonly wake: () => Promise<void>;
}

/** `again`: the queue message must come again. */
export type SmallRequestEnd = 'acknowledged' | 'again';

/**
 * Calls a small request at its places. Without them, or where the claim is given back, its number's sender gets it.
 * Acknowledges only what has ended and is told, or is in the backlog.
 */
export async function sendSmallRequest(
  places: readonly number[] | undefined,
  ports: SmallRequestPorts,
): Promise<SmallRequestEnd> {
  try {
    if (places !== undefined) {
      const { end, isTold } = await ports.tryOnce(places);
      // It may be in the hands of a run that dies. A dead claim that refused its end is looked at again, too.
      if (end.kind === 'later') return 'again';
      // Only a sender makes a later try, and it has the entry.
      if (end.kind === 'over') return 'acknowledged';
      if (!isTold) return 'again';
      await ports.countEnded(end.slice);
      if (openPlaces(end.slice).length === 0) return 'acknowledged';
    }
    // The sender drops an entry without a record, and waits for one whose dispatch has not begun.
    await ports.store();
    if ((await ports.begin()) === 'withdrawn') return 'acknowledged';
    await ports.enter();
  } catch {
    return 'again';
  }
  await ports.wake().catch(() => undefined);
  return 'acknowledged';
}
