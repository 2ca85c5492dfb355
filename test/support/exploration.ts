/** A step is one possible next action, in words, and the state after it. A state is plain data. */
export interface Step<State> {
  readonly does: string;
  readonly state: State;
}

export interface Space<State> {
  readonly successorsOf: (state: State) => Promise<readonly Step<State>[]>;
  /** The key has all that the state's future depends on: states with the same key are the same state. */
  readonly keyOf: (state: State) => string;
  /** Throws when a state breaks a promise. */
  readonly check: (state: State, before: State) => void | Promise<void>;
}

/** A path to a state has its newest step first. */
interface Way {
  readonly does: string;
  readonly before: Way | undefined;
}

/**
 * Visits every reachable state, breadth first, and checks each once. Throws the error of the first failed check with
 * the shortest path to its state, one step a line. Returns the number of states.
 */
export async function explore<State>(first: State, { successorsOf, keyOf, check }: Space<State>): Promise<number> {
  const seen = new Set([keyOf(first)]);
  let frontier: { state: State; way: Way | undefined }[] = [{ state: first, way: undefined }];
  while (frontier.length > 0) {
    const found: typeof frontier = [];
    for (const { state, way } of frontier) {
      for (const { does, state: next } of await successorsOf(state)) {
        const key = keyOf(next);
        if (seen.has(key)) continue;
        seen.add(key);
        const longer = { does, before: way };
        try {
          await check(next, state);
        } catch (error) {
          throw new Error(`${error instanceof Error ? error.message : String(error)}, after\n${pathOf(longer)}`, {
            cause: error,
          });
        }
        found.push({ state: next, way: longer });
      }
    }
    frontier = found;
  }
  return seen.size;
}

function pathOf(way: Way): string {
  const path: string[] = [];
  for (let at: Way | undefined = way; at !== undefined; at = at.before) path.unshift(`  ${at.does}`);
  return path.join('\n');
}

/**
 * Numbers parts of states: parts with the same text have the same number, so that a key is a few numbers. Each part is
 * serialized once. `future` selects what the part's future depends on.
 */
export function partNumbers(): (part: object, future?: object) => number {
  const numbers = new Map<string, number>();
  const known = new WeakMap<object, number>();
  return (part, future = part) => {
    const before = known.get(part);
    if (before !== undefined) return before;
    const text = written(future);
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    known.set(part, number);
    return number;
  };
}

/** Writes maps as lists, because JSON has no maps. */
export function written(value: unknown): string {
  return JSON.stringify(value, (_, part) => (part instanceof Map ? [...part] : part));
}
