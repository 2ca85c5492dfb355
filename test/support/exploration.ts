/** One thing that may happen next, in words, and the state that it leads to. A state is plain data. */
export interface Step<State> {
  readonly does: string;
  readonly state: State;
}

export interface Space<State> {
  readonly successorsOf: (state: State) => Promise<readonly Step<State>[]>;
  /** Names what the future of a state depends on: two states of one name are one. */
  readonly keyOf: (state: State) => string;
  /** Throws where a promise is broken. */
  readonly check: (state: State, before: State) => void | Promise<void>;
}

/** A way to a state, newest step first. */
interface Way {
  readonly does: string;
  readonly before: Way | undefined;
}

/**
 * Visits every state that can be reached, breadth first, and checks each once. Throws what the first check throws, with the
 * shortest way to that state, one step a line. Returns how many states there are.
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
 * Numbers for the parts of states, so that a state is named by a few of them: parts that are written alike have the same number.
 * A part is written once, however many states it is in. `future`: all of it that its future depends on.
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

/** Maps are written as lists: JSON has none. */
export function written(value: unknown): string {
  return JSON.stringify(value, (_, part) => (part instanceof Map ? [...part] : part));
}
