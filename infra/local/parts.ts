/** Something that was started and has to be ended. */
export interface Part {
  stop(): Promise<void>;
}

/** The order of ending: what takes work in, then what does it, then what it talks to. */
const phases = ['intake', 'functions', 'servers'] as const;
export type Phase = (typeof phases)[number];

/**
 * Keeps track of everything the stack has started, so that it can be ended at any moment, also in the middle of
 * starting: what is still starting is aborted, what has started is stopped phase by phase.
 */
export class Parts {
  readonly #starting = new Map<Promise<unknown>, AbortController>();
  readonly #started: { readonly phase: Phase; readonly part: Part }[] = [];
  #ended: Promise<void> | undefined;

  get ending(): boolean {
    return this.#ended !== undefined;
  }

  /** Starts a part. The signal it gets is for the time of starting only. */
  async start<T extends Part>(phase: Phase, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.run(async (signal) => {
      const part = await begin(signal);
      this.#started.push({ phase, part });
      return part;
    });
  }

  /** Does something that ends by itself and that ending the stack aborts. */
  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.ending) throw new Error('the stack is stopping');
    const controller = new AbortController();
    const running = work(controller.signal);
    this.#starting.set(running, controller);
    try {
      return await running;
    } finally {
      this.#starting.delete(running);
    }
  }

  /** Ends everything; a second call waits for the first. */
  end(): Promise<void> {
    this.#ended ??= this.#endAll();
    return this.#ended;
  }

  async #endAll(): Promise<void> {
    const starting = [...this.#starting];
    for (const [, controller] of starting) controller.abort();
    await Promise.allSettled(starting.map(([running]) => running));
    for (const phase of phases) {
      const parts = this.#started.filter((started) => started.phase === phase);
      await Promise.allSettled(parts.map(({ part }) => part.stop()));
    }
  }
}
