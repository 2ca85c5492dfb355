/** The simulator's time is real time plus what control calls have added. */
export class Clock {
  readonly #realNowMs: () => number;
  #addedMs = 0;

  constructor(realNowMs: () => number) {
    this.#realNowMs = realNowMs;
  }

  nowMs(): number {
    return this.#realNowMs() + this.#addedMs;
  }

  advance(seconds: number): void {
    this.#addedMs += seconds * 1_000;
  }

  get addedSeconds(): number {
    return this.#addedMs / 1_000;
  }
}
