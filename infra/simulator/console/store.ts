import { useEffect, useReducer } from 'preact/hooks';

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

/** Redraws the component when the value changes. */
export function useStore<T>(store: Store<T>): T {
  const drawn = store.get();
  const [, draw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    // The value may have changed between drawing and subscription.
    if (!Object.is(store.get(), drawn)) draw(undefined as never);
    return store.subscribe(() => draw(undefined as never));
  }, [store]);
  return drawn;
}
