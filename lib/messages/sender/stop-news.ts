import type { BacklogEntry } from '../dispatch/backlog.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { DispatchItemStates } from '../dispatch/item-store.ts';
import { type EntryRule, withNews } from './entry-progress.ts';

/** Says where the entry of a dispatch is. */
export type OfEntry = Pick<DispatchHead, 'dispatchId' | 'phoneNumberId' | 'acceptedAtMs' | 'when'>;

export interface NewsBacklog {
  /**
   * Applies a rule by compare-and-set to the entry of a dispatch, wherever it stands, and leaves it in the backlog.
   * Returns undefined where there is none. Rejects when the store cannot be reached.
   */
  bring(dispatch: OfEntry, rule: EntryRule): Promise<BacklogEntry | undefined>;
}

/**
 * Returns stops that the dispatch's senders are told of before (D53): they read it again until they find the stop, or
 * for a minute. So no death and no lost write leaves a stop that waits.
 */
export function announcedStop(stop: DispatchItemStates['stop'], backlog: NewsBacklog): DispatchItemStates['stop'] {
  return async (dispatch, own) => {
    await backlog.bring(dispatch, withNews(own.atMs));
    return await stop(dispatch, own);
  };
}
