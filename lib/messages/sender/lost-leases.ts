import type { RunState, RunStates } from '../../aws/leased-run.ts';

/** After so many lost leases in a row a run takes one dispatch, by turn. */
export const lostTogether = 2;

/** What a run tells the next one of the leases before, whose processes were killed. */
export interface LostLeases {
  /** So many were lost in a row, of runs that took all dispatches together. */
  readonly lost?: number | undefined;
  /** Dispatches are taken one by one: this was the last. */
  readonly turnOf?: string | undefined;
}

/**
 * Returns the states of a sender's lease, where a lease that was not given back counts as lost. One that was lost with a
 * dispatch alone ends the count: that dispatch is blamed (its entry waits).
 */
export function countingLost<State extends RunState & LostLeases>(states: RunStates<State>): RunStates<State> {
  return {
    change: (decide, seen) =>
      states.change((before) => {
        const next = decide(before);
        if (next?.lease === undefined || before.lease === undefined) return next;
        if (before.lease.owner === next.lease.owner) return next;
        const { lost = 0 } = before;
        return { ...next, lost: lost < lostTogether ? lost + 1 : 0, turnOf: undefined };
      }, seen),
  };
}
