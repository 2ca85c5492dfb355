interface TurnPorts {
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** Returns milliseconds between two calls now. */
  readonly everyMs: () => number;
}

/** Turns that passed unused are made up for this long: the pace is nine tenths of the limit, so it fills the limit. */
const catchUpMs = 75;

/**
 * The turns of one sender to call, each at the pace of its moment, in the order in which they are asked for. What asks in
 * front has every second turn at most, while others wait.
 */
export class Turns {
  readonly #ports: TurnPorts;
  readonly #waiting: (() => void)[] = [];
  readonly #inFront: (() => void)[] = [];
  #lastWasInFront = false;
  #nextMs = 0;
  #isGiving = false;

  constructor(ports: TurnPorts) {
    this.#ports = ports;
  }

  /** Other runs may have turns until then. */
  notBefore(atMs: number): void {
    this.#nextMs = Math.max(this.#nextMs, atMs);
  }

  /** So many wait for a turn, in front or not. */
  waiting(isFront = false): number {
    return isFront ? this.#inFront.length : this.#waiting.length;
  }

  /** All turns that were asked for are over then. */
  get endMs(): number {
    return this.#all === 0 ? this.#nextMs : this.freeMs;
  }

  /** Returns when a turn comes that is asked for now. */
  get freeMs(): number {
    return Math.max(this.#nextMs, this.#ports.nowMs() - catchUpMs) + this.#all * this.#ports.everyMs();
  }

  get #all(): number {
    return this.#waiting.length + this.#inFront.length;
  }

  /** Resolves at the turn. */
  async take(isFront = false): Promise<void> {
    const turn = new Promise<void>((resolve) => (isFront ? this.#inFront : this.#waiting).push(resolve));
    if (!this.#isGiving) void this.#give();
    await turn;
  }

  async #give(): Promise<void> {
    this.#isGiving = true;
    const { nowMs, pause, everyMs } = this.#ports;
    while (this.#all > 0) {
      const atMs = Math.max(this.#nextMs, nowMs() - catchUpMs);
      if (atMs > nowMs()) await pause(atMs - nowMs());
      this.#nextMs = atMs + everyMs();
      this.#next()?.();
    }
    this.#isGiving = false;
  }

  #next(): (() => void) | undefined {
    const isFront = this.#inFront.length > 0 && (this.#waiting.length === 0 || !this.#lastWasInFront);
    this.#lastWasInFront = isFront;
    return (isFront ? this.#inFront : this.#waiting).shift();
  }
}
