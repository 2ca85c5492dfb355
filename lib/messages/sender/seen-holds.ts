import type { Holds } from '../holds/hold.ts';
import type { RunHoldsPorts } from '../holds/run-holds.ts';

/** Returns the same writes of holds. `saw` gets what is stored after each. */
export function seenHolds(
  { change, takeProbe }: RunHoldsPorts['wabas'],
  saw: (wabaId: string, holds: Holds) => void,
): RunHoldsPorts['wabas'] {
  return {
    takeProbe,
    change: async (wabaId, rule) => {
      const after = await change(wabaId, rule);
      if (after !== undefined) saw(wabaId, after);
      return after;
    },
  };
}
