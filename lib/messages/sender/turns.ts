interface TurnPorts {
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** Returns milliseconds between two calls now. */
  readonly everyMs: () => number;
}

/** Turns that passed unused are made up for this long: the pace is nine tenths of the limit, so it fills the limit. */
const catchUpMs = 75;

/** The turns of one sender to call, each at the pace of its moment, in the order in which they are asked for. */
export class Turns {
  readonly #ports: TurnPorts;
  readonly #waiting: (() => void)[] = [];
  #nextMs = 0;
  #isGiving = false;

  constructor(ports: TurnPorts) {
    this.#ports = ports;
  }

  /** Other runs may have turns until then. */
  notBefore(atMs: number): void {
    this.#nextMs = Math.max(this.#nextMs, atMs);
  }

  /** So many wait for a turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** All turns that were asked for are over then. */
  get endMs(): number {
    return this.#waiting.length === 0 ? this.#nextMs : this.freeMs;
  }

  /** Returns when a turn comes that is asked for now. */
  get freeMs(): number {
    return Math.max(this.#nextMs, this.#ports.nowMs() - catchUpMs) + this.#waiting.length * this.#ports.everyMs();
  }

  /** Resolves at the turn. */
  async take(): Promise<void> {
    const turn = new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (!this.#isGiving) void this.#give();
    await turn;
  }

  async #give(): Promise<void> {
    this.#isGiving = true;
    const { nowMs, pause, everyMs } = this.#ports;
    while (this.#waiting.length > 0) {
      const atMs = Math.max(this.#nextMs, nowMs() - catchUpMs);
      if (atMs > nowMs()) await pause(atMs - nowMs());
      this.#nextMs = atMs + everyMs();
      this.#waiting.shift()?.();
    }
    this.#isGiving = false;
  }
}
