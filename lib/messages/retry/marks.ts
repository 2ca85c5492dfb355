/*
 * Which recipients of a job are retried, and by which retry (D57). A mark names the job of the retry. All marks of a job are one
 * item, written whole under the condition that it is as it was read, before anything of the retry is stored. What a mark means
 * follows from the state of the job that it names (items.ts, `mayBegin`), which begin and withdraw decide for good:
 *
 *   none ──mark──▶ marked, the job is open ──begin────▶ retried, for ever
 *                                          ──withdraw─▶ free: as good as none
 *
 * - *mark*, by an acceptance, before its job is stored. It takes what is free, and nothing else.
 * - *begin*, by that acceptance, once the queue has confirmed the job and before it answers 200; or by the fan-out before. So a
 *   job that is answered 200 has begun, and no other request can take it back.
 * - *withdraw*, by that acceptance when it refuses; or by another request, once the acceptance that marked must be over. Either
 *   loses to *begin*.
 *
 * So of all retries that ever marked a recipient at most one begins: a mark is taken over only from a job that was taken back
 * before, and that job begins no more. No clock decides on that: time only says when another request may try to take back.
 */

/** What one retry has marked. */
export interface Marking {
  readonly jobId: string;
  /** When, by the clock of its acceptance. */
  readonly atMs: number;
  /** Indexes in the job that is retried, ascending. */
  readonly indexes: readonly number[];
}

export interface Marks {
  /** Counts the writes; 0 before the first. */
  readonly version: number;
  readonly retries: readonly Marking[];
}

export const noMarks: Marks = { version: 0, retries: [] };

/** How the job of a retry stands: `open` may still begin, or never will. */
export type RetryStanding = 'open' | 'begun' | 'withdrawn';

/** The indexes that are marked by jobs which are not taken back. */
export function heldIn(marks: Marks, standings: ReadonlyMap<string, RetryStanding>): ReadonlySet<number> {
  const holding = marks.retries.filter(({ jobId }) => standings.get(jobId) !== 'withdrawn');
  return new Set(holding.flatMap(({ indexes }) => indexes));
}

/** The marks with another retry; those of jobs that were taken back go. */
export function withMarking(marks: Marks, marking: Marking, standings: ReadonlyMap<string, RetryStanding>): Marks {
  const holding = marks.retries.filter(({ jobId }) => standings.get(jobId) !== 'withdrawn');
  return { version: marks.version + 1, retries: [...holding, marking] };
}
