import type { RunStates } from './leased-run.ts';
import { OutOfReach } from './out-of-reach.ts';
import type { Pause } from './pause.ts';
import { changeVersioned, type VersionedItem } from './versioned-item.ts';

/** A change competes with the key's other runs; a failed one is retried much later. */
const mostTries = 10;

/** Keeps what the runs of a key share in one item, under an optimistic lock. Throws after ten conflicts in a row. */
export function runStateStore<State>(
  item: VersionedItem<State>,
  options: {
    readonly pause: Pause;
    /** Each run has its own name; by default each write has one. */
    readonly newWriter?: (() => string) | undefined;
  },
): RunStates<State> {
  return {
    change: async (decide, seen) => {
      const rule = (before: State) => {
        const next = decide(before);
        return { state: next ?? before, result: next !== undefined };
      };
      const changed = await changeVersioned(item, rule, { ...options, seen, mostTries });
      if (changed === undefined) throw new OutOfReach(`${JSON.stringify(item.key)} changed under ${mostTries} tries`);
      return { changed: changed.result, state: changed.state, version: changed.version };
    },
  };
}
