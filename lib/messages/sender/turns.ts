interface TurnPorts {
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** Returns milliseconds between two calls now. */
  readonly everyMs: () => number;
  /** No turn comes later. */
  readonly lastMs: number;
}

/** Turns that passed unused are made up for this long: the pace is nine tenths of the limit, so it fills the limit. */
const catchUpMs = 75;

/**
 * The turns of one sender to call, each at the pace of its moment, in the order in which they are asked for. What asks in
 * front has every second turn at most, while others wait.
 */
export class Turns {
  readonly #ports: TurnPorts;
  readonly #waiting: ((isTurn: boolean) => void)[] = [];
  readonly #inFront: ((isTurn: boolean) => void)[] = [];
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
  waiting(isFront: boolean): number {
    return isFront ? this.#inFront.length : this.#waiting.length;
  }

  /** All turns that were asked for are over then. */
  get endMs(): number {
    if (this.#all === 0) return this.#nextMs;
    const { nowMs, everyMs } = this.#ports;
    return Math.max(this.#nextMs, nowMs() - catchUpMs) + this.#all * everyMs();
  }

  /** A turn that is asked for now comes too late. */
  get areOver(): boolean {
    return this.endMs > this.#ports.lastMs;
  }

  get #all(): number {
    return this.#waiting.length + this.#inFront.length;
  }

  /** Resolves at the turn with true, or with false as soon as none can come in time, as on a number that gets slower. */
  async take(isFront: boolean): Promise<boolean> {
    const turn = new Promise<boolean>((resolve) => (isFront ? this.#inFront : this.#waiting).push(resolve));
    if (!this.#isGiving) void this.#give();
    return await turn;
  }

  async #give(): Promise<void> {
    this.#isGiving = true;
    const { nowMs, pause, everyMs, lastMs } = this.#ports;
    while (this.#all > 0) {
      const atMs = Math.max(this.#nextMs, nowMs() - catchUpMs);
      const isTurn = atMs <= lastMs;
      if (isTurn && atMs > nowMs()) await pause(atMs - nowMs());
      if (isTurn) this.#nextMs = atMs + everyMs();
      this.#next()?.(isTurn);
    }
    this.#isGiving = false;
  }

  #next(): ((isTurn: boolean) => void) | undefined {
    const isFront = this.#inFront.length > 0 && (this.#waiting.length === 0 || !this.#lastWasInFront);
    this.#lastWasInFront = isFront;
    return (isFront ? this.#inFront : this.#waiting).shift();
  }
}
