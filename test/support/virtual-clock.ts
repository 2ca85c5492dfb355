/**
 * The clock jumps: when no other work can continue, the earliest wait ends. It is only for work that waits for this
 * clock and for promises in memory.
 */
export class VirtualClock {
  private timeMs: number;
  private readonly sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];

  constructor(startMs: number) {
    this.timeMs = startMs;
  }

  readonly nowMs = (): number => this.timeMs;

  readonly pause = (ms: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.sleepers.push({ atMs: this.timeMs + Math.max(0, ms), wake: resolve });
    return promise;
  };

  /** Lets time pass for as long as `work` takes; other waits then never end. */
  async run<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const ended = work.finally(() => {
      done = true;
    });
    ended.catch(() => undefined);
    for (;;) {
      await new Promise(setImmediate);
      if (done) return await ended;
      this.sleepers.sort((one, other) => one.atMs - other.atMs);
      const next = this.sleepers.shift();
      if (next === undefined) throw new Error('the work waits for something that never comes');
      this.timeMs = Math.max(this.timeMs, next.atMs);
      next.wake();
    }
  }
}
