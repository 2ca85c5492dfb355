/** A dispatch that could not be read is tried again after 1, 2, 4 s, then as its entry says. */
const triesInRun = 3;

interface Trouble {
  readonly times: number;
  readonly untilMs: number;
}

/** What the dispatches of a sender wait for that is no fault of theirs, or that may pass. */
export class Troubles {
  readonly #known = new Map<string, Trouble>();

  untilMs(dispatchId: string): number {
    return this.#known.get(dispatchId)?.untilMs ?? 0;
  }

  /** Nothing is done with the dispatch before. */
  wait(dispatchId: string, untilMs: number): void {
    this.#known.set(dispatchId, { times: this.#known.get(dispatchId)?.times ?? 0, untilMs });
  }

  /** Notes a failure. Returns true once it has failed so often that the run gives it up. */
  again(dispatchId: string, nowMs: number): boolean {
    const { times = 0 } = this.#known.get(dispatchId) ?? {};
    this.#known.set(dispatchId, { times: times + 1, untilMs: nowMs + 1_000 * 2 ** times });
    return times + 1 >= triesInRun;
  }

  over(dispatchId: string): void {
    this.#known.delete(dispatchId);
  }
}
