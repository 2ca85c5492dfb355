import type { RunStates } from '../../aws/leased-run.ts';
import type { SenderState } from './sender-ports.ts';

/** After so many lost leases in a row a run takes one dispatch, by turn. */
const lostTogether = 2;

/** Returns whose turn it is to be alone, from 0; undefined while all are taken together. */
export function turnOfOne(lost: number): number | undefined {
  return lost < lostTogether ? undefined : lost - lostTogether;
}

/**
 * Returns the states of a sender's lease, where a lease that was not given back counts as lost. One that was lost with a
 * dispatch alone ends the count: that dispatch is blamed (its entry waits).
 */
export function countingLost(states: RunStates<SenderState>): RunStates<SenderState> {
  return {
    change: (decide, seen) =>
      states.change((before) => {
        const next = decide(before);
        if (next?.lease === undefined || before.lease === undefined) return next;
        if (before.lease.owner === next.lease.owner) return next;
        const { lost = 0 } = before;
        return { ...next, lost: turnOfOne(lost) === undefined ? lost + 1 : 0 };
      }, seen),
  };
}
