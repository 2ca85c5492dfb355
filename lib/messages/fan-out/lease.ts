import { inTheWay, type Lease } from '../../aws/lease.ts';

/*
 * The lease that a run of the fan-out holds on a round of its job (job-rounds.ts says what rounds are).
 */

/** Which round a job is in, and the run that works on it: none between two rounds. */
export interface RoundRecord {
  readonly round: number;
  readonly lease?: Lease | undefined;
}

/** No message has a later one. */
export const roundAfterLast = Number.MAX_SAFE_INTEGER;

/** Shorter than the time after which a killed run's message is delivered again, so that its next run need not wait. */
export const leaseMs = 45_000;

/** A run whose lease ends sooner than this queues no more: the longest request, and what clocks are apart. */
export const leaseMarginMs = 18_000;

/** How long a delivery is held, set again when that is more than `holdEveryMs` ago: a killed run costs a minute at most. */
export const holdSeconds = 60;
export const holdEveryMs = 20_000;

export type RoundState =
  | { readonly kind: 'free' }
  | { readonly kind: 'over' }
  /** Another run's until then, if it says nothing more. */
  | { readonly kind: 'held'; readonly untilMs: number };

/** What the record means for a run: the first round is taken where there is none. */
export function roundStateOf(
  record: RoundRecord | undefined,
  run: { readonly round: number; readonly owner: string },
  nowMs: number,
): RoundState {
  if (record !== undefined && record.round > run.round) return { kind: 'over' };
  const other = inTheWay(record?.lease, run.owner, nowMs);
  return other === undefined ? { kind: 'free' } : { kind: 'held', untilMs: other.untilMs };
}
