/*
 * A job is released in rounds, so that what cannot leave for a while does not lie in the dispatch queue. Each round is one
 * message of the send-job queue: what is left goes back as a message sent anew, never as a delivery put off, for each of
 * those uses up a receive. Queues double messages, and a message outlives the run that died with it, so the job item says
 * for each part which round it is in and who works on it:
 *
 * - a run *takes* its round before it queues anything, and holds it for `leaseMs`, renewed with each wave;
 * - at the end it sends the next round's message, then *hands the round over*, then acknowledges its own;
 * - a message of a round that is over is dropped: its successor is in the queue, or the part is done;
 * - a message of the round, or the next, that another run holds is sent anew until that one hands over or is dead.
 *
 * So as long as recipients are left there is a message of their round, or of the next one, and no two runs queue side by
 * side, however often either is delivered.
 */

/** Which round a part of a job is in. */
export interface RoundRecord {
  readonly round: number;
  /** The run that works on it; absent between two rounds. */
  readonly owner?: string | undefined;
  readonly leaseUntilMs: number;
}

/** A run of the fan-out that works on a message of a round. */
export interface RoundRun {
  readonly jobId: string;
  readonly part: number;
  readonly round: number;
  /** Unlike that of any other run, also of another delivery of the same message. */
  readonly owner: string;
}

/** No message has a later one. */
export const roundAfterLast = Number.MAX_SAFE_INTEGER;

/** Shorter than the time after which a killed run's message is delivered again, so that its next run need not wait. */
export const leaseMs = 45_000;

/** A run whose lease ends sooner than this queues no more: the longest request, and what clocks are apart. */
export const leaseMarginMs = 18_000;

/** How long a delivery is held, set anew when that is more than `holdEveryMs` ago: a killed run costs a minute at most. */
export const holdSeconds = 60;
export const holdEveryMs = 20_000;

export type RoundState =
  | { readonly kind: 'free' }
  | { readonly kind: 'over' }
  /** Another run's until then, if it says nothing more. */
  | { readonly kind: 'held'; readonly untilMs: number };

/** What the record of a part means for a run: the first round is taken where there is none. */
export function roundStateOf(record: RoundRecord | undefined, run: RoundRun, nowMs: number): RoundState {
  if (record === undefined) return { kind: 'free' };
  if (record.round > run.round) return { kind: 'over' };
  const { owner, leaseUntilMs } = record;
  if (owner === undefined || owner === run.owner || leaseUntilMs <= nowMs) return { kind: 'free' };
  return { kind: 'held', untilMs: leaseUntilMs };
}
