import type { RunStates } from '../../aws/leased-run.ts';
import type { SenderState } from './sender-ports.ts';

/** Returns the states of a sender's lease, where a lease that was not given back counts as lost. */
export function countingLost(states: RunStates<SenderState>): RunStates<SenderState> {
  return {
    change: (decide, seen) =>
      states.change((before) => {
        const next = decide(before);
        return next === undefined ? undefined : { ...next, lost: lostAfter(before, next) };
      }, seen),
  };
}

function lostAfter({ lease, lost = 0 }: SenderState, next: SenderState): number {
  if (next.lease === undefined) return lease === undefined ? lost : 0;
  return lease !== undefined && lease.owner !== next.lease.owner ? lost + 1 : lost;
}
