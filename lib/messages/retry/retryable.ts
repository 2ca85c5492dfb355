import { undeliveredMarket } from '../../pricing/undelivered.ts';
import { type DescribedDispatch, placesOf } from '../report/described-dispatch.ts';
import type { ReportedOutcome } from '../report/outcome.ts';
import { destinationOf } from '../request/recipient-address.ts';
import { adviceOfCode } from './causes.ts';

/** A failure from a receipt counts when no other receipt has contradicted it for this time (D57, D39). */
const receiptSettlesMs = 10 * 60_000;

/** The platform answers a retry within this time with another day of refusals (131049). */
const punishedMs = 24 * 3_600_000;

export interface Ended {
  readonly outcome: Pick<ReportedOutcome, 'state' | 'code' | 'atMs'>;
  readonly byReceipt: boolean;
  readonly to: string;
  readonly category: string;
}

/** `later` means that only time has to pass. */
export type Retryability = 'retry' | 'later' | 'no';

/**
 * Tells whether a message may be sent again now: it ended `failed` or `expired`, for a cause that may pass, or for one
 * of `codes` that is not excluded.
 */
export function retryabilityOf(ended: Ended, codes: ReadonlySet<string> | undefined, nowMs: number): Retryability {
  const { state, code, atMs = nowMs } = ended.outcome;
  if ((state !== 'failed' && state !== 'expired') || code === undefined) return 'no';
  if (codes?.has(code) === false) return 'no';
  const word = adviceOfCode(code);
  if (word === undefined || word === 'never' || (word === 'named' && codes === undefined)) return 'no';
  if (word === 'after_a_day' && undeliveredMarket(ended.category, destinationOf(ended.to)) !== undefined) return 'no';
  const restMs = Math.max(word === 'after_a_day' ? punishedMs : 0, ended.byReceipt ? receiptSettlesMs : 0);
  return nowMs < atMs + restMs ? 'later' : 'retry';
}

export interface RetryablePlace {
  /** `index` is in the dispatch, `position` in the request and its report. */
  readonly index: number;
  readonly position: number;
}

export interface Retryable {
  readonly places: readonly RetryablePlace[];
  readonly later: number;
}

/** Returns the retryable recipients of a dispatch. Repeated ones have no message of their own (D25). */
export function retryableIn(
  dispatch: Pick<DescribedDispatch, 'head' | 'repeats' | 'recipients' | 'erased'>,
  endedAt: (index: number) => Pick<Ended, 'outcome' | 'byReceipt'>,
  { codes, nowMs }: { readonly codes: ReadonlySet<string> | undefined; readonly nowMs: number },
): Retryable {
  const { category } = dispatch.head;
  const places: RetryablePlace[] = [];
  let later = 0;
  for (const { position, index, duplicateOf } of placesOf(dispatch)) {
    const to = dispatch.recipients.get(index);
    if (duplicateOf !== undefined || to === undefined || dispatch.erased?.has(index)) continue;
    const verdict = retryabilityOf({ ...endedAt(index), to, category }, codes, nowMs);
    if (verdict === 'retry') places.push({ index, position });
    if (verdict === 'later') later += 1;
  }
  return { places, later };
}
