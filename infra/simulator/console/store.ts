import { useEffect, useReducer } from 'preact/hooks';

/** A value that parts of the page watch. */
export interface Store<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(first: T): Store<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** The store's value; the component is drawn again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const drawn = store.get();
  const [, draw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    // It may have changed between the drawing and now.
    if (!Object.is(store.get(), drawn)) draw(undefined as never);
    return store.subscribe(() => draw(undefined as never));
  }, [store]);
  return drawn;
}
