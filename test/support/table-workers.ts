import { immediately, VirtualTime } from './virtual-time.ts';

const never = new Promise<never>(() => undefined);

/**
 * Workers run over the real stores in virtual time, which passes only while no worker waits for a request.
 */
export class TableWorkers {
  readonly time: VirtualTime;
  #asked = 0;
  #wake: () => void = () => undefined;

  constructor(startMs: number) {
    this.time = new VirtualTime(startMs);
  }

  /** Makes a request outside of virtual time. */
  async ask<T>(call: () => Promise<T>): Promise<T> {
    this.#asked += 1;
    try {
      return await call();
    } finally {
      this.#asked -= 1;
      if (this.#asked === 0) this.#wake();
    }
  }

  /** Lets time pass for as long as `work` takes. */
  async pass<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const ended = work.finally(() => {
      isOver = true;
    });
    ended.catch(() => undefined);
    const settled = async () => {
      do {
        if (this.#asked > 0) await new Promise<void>((resolve) => (this.#wake = resolve));
        await immediately();
      } while (this.#asked > 0);
    };
    await this.time.pass(() => isOver, settled);
    if (!isOver) throw new Error('the work waits for something that never comes');
    return await ended;
  }
}

export type Through = <T>(call: () => Promise<T>) => Promise<T>;

/** Returns a process that is killed after so many calls: what is pending gets no answer, and nothing more is called. */
export function livingFor(calls: number): { readonly living: Through; readonly killed: Promise<'killed'> } {
  const killed = Promise.withResolvers<'killed'>();
  let left = calls;
  const living: Through = async (call) => {
    left -= 1;
    if (left < 0) return await never;
    try {
      return await call();
    } finally {
      if (left <= 0) {
        killed.resolve('killed');
        await never;
      }
    }
  };
  return { living, killed: killed.promise };
}

/** Returns the store with each of its calls made through `through`. */
export function eachCall<Store extends object>(store: Store, through: Through): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => through(async () => member.apply(target, args));
    },
  });
}
