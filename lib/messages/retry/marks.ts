// Marks say which recipients of a dispatch are retried, and by which dispatch (D57). They are one item under an
// optimistic lock, written before the retry is stored. The retry's dispatch decides what they mean
// (dispatch/item-writes.ts).

// The states are none → (mark) marked, while the retry's dispatch is open → (begin) retried for good, or (withdraw)
// free again.

// An acceptance *marks* only free recipients before it stores its dispatch. It *begins* after the queue has confirmed
// and before its 200, or the fan-out does.

// That acceptance *withdraws* when it refuses, or another request does once the acceptance must be dead. Withdraw loses
// against *begin*.

// So at most one retry of a recipient begins: a mark is only taken over from a withdrawn dispatch. Clocks only decide
// when another request may try to withdraw.

export interface Marking {
  readonly dispatchId: string;
  /** The time is by the clock of the retry's acceptance. */
  readonly atMs: number;
  /** Indexes in the retried dispatch are ascending. */
  readonly indexes: readonly number[];
}

export interface Marks {
  /** The version counts the writes, for the optimistic lock, and is 0 before the first. */
  readonly version: number;
  readonly retries: readonly Marking[];
}

export const noMarks: Marks = { version: 0, retries: [] };

/** An `open` dispatch may still begin, or never will. */
export type RetryState = 'open' | 'begun' | 'withdrawn';

/** Returns indexes marked by dispatches that are not withdrawn. */
export function heldIn(marks: Marks, standings: ReadonlyMap<string, RetryState>): ReadonlySet<number> {
  const holding = marks.retries.filter(({ dispatchId }) => standings.get(dispatchId) !== 'withdrawn');
  return new Set(holding.flatMap(({ indexes }) => indexes));
}

/** Adds a retry's marks and drops those of withdrawn dispatches. */
export function withMarking(marks: Marks, marking: Marking, standings: ReadonlyMap<string, RetryState>): Marks {
  const holding = marks.retries.filter(({ dispatchId }) => standings.get(dispatchId) !== 'withdrawn');
  return { version: marks.version + 1, retries: [...holding, marking] };
}
