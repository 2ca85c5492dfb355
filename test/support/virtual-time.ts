interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

/** The clock moves only while all tasks sleep: it allows any number of workers, and hours that take no real time. */
export class VirtualTime {
  nowMs: number;
  readonly #sleepers = new Map<number, Sleeper[]>();
  #times: number[] = [];

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  sleep(ms: number): Promise<void> {
    const atMs = this.nowMs + Math.max(0, Math.ceil(ms));
    const beside = this.#sleepers.get(atMs);
    return new Promise((wake) => {
      if (beside !== undefined) return void beside.push({ atMs, wake });
      this.#sleepers.set(atMs, [{ atMs, wake }]);
      this.#insert(atMs);
    });
  }

  /**
   * Lets time pass until `isOver` is true, or no sleeper is left. Before each step, `settled` resolves when all work
   * that needs no time is done.
   */
  async pass(isOver: () => boolean, settled: () => Promise<void> = immediately): Promise<void> {
    for (;;) {
      await settled();
      const atMs = isOver() ? undefined : this.#times.pop();
      if (atMs === undefined) return;
      this.nowMs = atMs;
      const woken = this.#sleepers.get(atMs) ?? [];
      this.#sleepers.delete(atMs);
      for (const { wake } of woken) wake();
    }
  }

  /** The latest is first, so that the next one is at the end. */
  #insert(atMs: number): void {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] as number) > atMs) low = middle + 1;
      else high = middle;
    }
    this.#times.splice(low, 0, atMs);
  }
}

/** Resolves after work that waits only for this clock and for promises in memory. */
export function immediately(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
