export interface Part {
  stop(): Promise<void>;
}

/** The stack stops what accepts work first, then what does it, then the servers behind it. */
const phases = ['intake', 'functions', 'servers'] as const;
export type Phase = (typeof phases)[number];

/**
 * Tracks all parts, so that the stack can end at any moment: what is starting is aborted, what has started is stopped
 * phase by phase.
 */
export class Parts {
  readonly #starting = new Map<Promise<unknown>, AbortController>();
  readonly #started: { readonly phase: Phase; readonly part: Part }[] = [];
  #ended: Promise<void> | undefined;

  get ending(): boolean {
    return this.#ended !== undefined;
  }

  /** The signal is valid only during the start. */
  async start<T extends Part>(phase: Phase, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.run(async (signal) => {
      const part = await begin(signal);
      this.#started.push({ phase, part });
      return part;
    });
  }

  /** The end of the stack aborts the work. */
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
