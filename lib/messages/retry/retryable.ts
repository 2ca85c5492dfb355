import { undeliveredMarket } from '../../pricing/undelivered.ts';
import { type DescribedJob, placesOf } from '../report/described-job.ts';
import type { ReportedOutcome } from '../report/outcome.ts';
import { destinationOf } from '../request/addressee.ts';
import { retryOf } from './causes.ts';

/** A failure that the platform tells by receipt counts when no receipt has said the contrary for so long (D57, D39). */
export const receiptSettlesMs = 10 * 60_000;

/** The platform answers another try within this time with another day of refusals (131049). */
const punishedMs = 24 * 3_600_000;

/** The message of one recipient as a retry looks at it. */
export interface Ended {
  readonly outcome: Pick<ReportedOutcome, 'state' | 'code' | 'atMs'>;
  /** The platform told the failure by receipt. */
  readonly byReceipt: boolean;
  readonly to: string;
  readonly category: string;
}

/** `later`: not yet, for time alone has to pass. */
export type Verdict = 'retry' | 'later' | 'no';

/**
 * Whether the message may be sent once more now: it ended `failed` or `expired` for a cause that may pass, or for one of the
 * named codes that is not excluded from every retry. `codes`: only these; undefined: whose cause may pass.
 */
export function verdictOf(ended: Ended, codes: ReadonlySet<string> | undefined, nowMs: number): Verdict {
  const { state, code, atMs = nowMs } = ended.outcome;
  if ((state !== 'failed' && state !== 'expired') || code === undefined) return 'no';
  if (codes?.has(code) === false) return 'no';
  const word = retryOf(code);
  if (word === undefined || word === 'never' || (word === 'named' && codes === undefined)) return 'no';
  if (word === 'after_a_day' && undeliveredMarket(ended.category, destinationOf(ended.to)) !== undefined) return 'no';
  const restMs = Math.max(word === 'after_a_day' ? punishedMs : 0, ended.byReceipt ? receiptSettlesMs : 0);
  return nowMs < atMs + restMs ? 'later' : 'retry';
}

/** One that may be sent to once more. */
export interface RetryablePlace {
  /** In the job, and in the request: there a report shows it. */
  readonly index: number;
  readonly position: number;
}

export interface Retryable {
  /** In the order of the request. */
  readonly places: readonly RetryablePlace[];
  /** How many have to wait first. */
  readonly later: number;
}

/** Those of a job that may be retried, each once: a repeated recipient has no message of its own (D25). */
export function retryableIn(
  job: Pick<DescribedJob, 'head' | 'repeats' | 'recipients' | 'erased'>,
  endedAt: (index: number) => Pick<Ended, 'outcome' | 'byReceipt'>,
  { codes, nowMs }: { readonly codes: ReadonlySet<string> | undefined; readonly nowMs: number },
): Retryable {
  const { category } = job.head;
  const places: RetryablePlace[] = [];
  let later = 0;
  for (const { position, index, duplicateOf } of placesOf(job)) {
    const to = job.recipients.get(index);
    if (duplicateOf !== undefined || to === undefined || job.erased?.has(index)) continue;
    const verdict = verdictOf({ ...endedAt(index), to, category }, codes, nowMs);
    if (verdict === 'retry') places.push({ index, position });
    if (verdict === 'later') later += 1;
  }
  return { places, later };
}
