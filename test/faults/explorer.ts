import { type Action, actionsOf, inWords, kindOf } from './actions.ts';
import { apply, type Standings } from './apply.ts';
import type { Scenario } from './scenario.ts';
import { initialState, type State, type Worker } from './states.ts';

/** A way to a state, newest action first. */
interface Way {
  readonly action: Action;
  readonly before: Way | undefined;
}

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** Every kind of action that was taken on some path (`kindOf`). */
  readonly seen: ReadonlySet<string>;
  /** One state per distinct quiet end, with the way there. */
  readonly ends: readonly End[];
}

export interface End {
  readonly state: State;
  readonly path: readonly Action[];
}

/** Visits every reachable state, breadth first, and lets `check` throw in each. */
export async function explore(scenario: Scenario, check: (state: State, before: State) => void): Promise<Exploration> {
  const first = initialState(scenario);
  const standings: Standings = new Map();
  const keyOf = stateKeys();
  const seen = new Set([keyOf(first)]);
  const ends: End[] = [];
  const kinds = new Set<string>();
  let transitions = 0;
  let frontier: { state: State; way: Way | undefined }[] = [{ state: first, way: undefined }];
  while (frontier.length > 0) {
    const next: typeof frontier = [];
    for (const { state, way } of frontier) {
      const actions = actionsOf(state, scenario);
      if (actions.length === 0) ends.push({ state, path: pathOf(way) });
      for (const action of actions) {
        const successor = await apply(state, action, scenario, standings);
        transitions += 1;
        kinds.add(kindOf(action));
        const key = keyOf(successor);
        if (seen.has(key)) continue;
        seen.add(key);
        const longer = { action, before: way };
        try {
          check(successor, state);
        } catch (error) {
          throw new Error(`${String(error)} after${inWords(pathOf(longer))}`, { cause: error });
        }
        next.push({ state: successor, way: longer });
      }
    }
    frontier = next;
  }
  return { states: seen.size, transitions, seen: kinds, ends };
}

/**
 * Names states so that those with the same future have the same name. Workers of a kind are alike, whatever their place;
 * what most states share with others is written out and hashed once.
 */
function stateKeys(): (state: State) => string {
  const numbers = new Map<string, number>();
  const known = new WeakMap<object, number>();
  const numberOf = (part: object, future = part) => {
    let number = known.get(part);
    if (number === undefined) {
      const written = JSON.stringify(future);
      number = numbers.get(written) ?? numbers.size;
      numbers.set(written, number);
      known.set(part, number);
    }
    return number;
  };
  return ({ store, queue, workers, ...rest }) => {
    const busy = workers
      .map((worker) => (worker === null ? -1 : numberOf(worker, futureOf(worker))))
      .toSorted((one, other) => one - other);
    return JSON.stringify([numberOf(store), queue.map((queued) => numberOf(queued)), busy, rest]);
  };
}

/** How a run has come to its end changes nothing any more. */
function futureOf(worker: Worker): object {
  const { role, holds, ended } = worker;
  return ended === undefined ? worker : { role, holds, ended };
}

function pathOf(way: Way | undefined): Action[] {
  const path: Action[] = [];
  for (let at = way; at !== undefined; at = at.before) path.unshift(at.action);
  return path;
}
