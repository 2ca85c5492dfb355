import { errorName } from '../../observe/error-name.ts';
import type { BacklogEntry } from '../dispatch/backlog.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { type EntryRule, withNews } from './entry-progress.ts';
import type { SenderPorts } from './sender-ports.ts';

export interface NewsPorts extends Pick<SenderPorts, 'wake'> {
  readonly backlog: {
    /**
     * Applies a rule by compare-and-set to the entry of a dispatch, wherever it stands, and leaves it in the backlog.
     * Returns undefined where there is none. Rejects when the store cannot be reached.
     */
    bring(head: DispatchHead, rule: EntryRule): Promise<BacklogEntry | undefined>;
  };
  readonly nowMs: () => number;
  readonly log: SenderPorts['process']['log'];
}

/**
 * Has the senders of a dispatch read it again, once its stop is stored: they tell its end within seconds, also that of a
 * scheduled one (D53). Is idempotent. Rejects when the entry cannot be written.
 */
export async function tellSenders(head: DispatchHead, { backlog, wake, nowMs, log }: NewsPorts): Promise<void> {
  const { phoneNumberId, dispatchId } = head;
  const entry = await backlog.bring(head, withNews(nowMs()));
  // All of it has ended and is told.
  if (entry === undefined) return;
  try {
    await wake({ phoneNumberId, part: 0 }, 0);
  } catch (error) {
    // The sweeper finds what has lost its wake.
    log('dispatch.not_woken', { dispatchId, error: errorName(error) });
  }
}
