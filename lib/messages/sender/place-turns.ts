import type { Turns } from './turns.ts';

interface PlacePorts {
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** A place is used no later than so: a claim in a slow table takes longer than places may wait. */
export const longestLateMs = 1_000;

/** The turns of a small request: its places, in the order in which they are asked for. */
export class PlaceTurns implements Pick<Turns, 'take'> {
  readonly #places: readonly number[];
  readonly #ports: PlacePorts;
  #next = 0;
  #lateMs = 0;

  constructor(places: readonly number[], ports: PlacePorts) {
    this.#places = places;
    this.#ports = ports;
  }

  /** No call begins later. */
  get lastMs(): number {
    return (this.#places.at(-1) ?? this.#ports.nowMs()) + longestLateMs;
  }

  /** Resolves at the next place with true, or with false where none is left or it is over. */
  async take(): Promise<boolean> {
    const placeMs = this.#places[this.#next];
    this.#next += 1;
    if (placeMs === undefined) return false;
    const { nowMs, pause } = this.#ports;
    // Those behind a late one keep their distance.
    this.#lateMs = Math.max(this.#lateMs, nowMs() - placeMs);
    if (this.#lateMs > longestLateMs) return false;
    const waitMs = placeMs + this.#lateMs - nowMs();
    if (waitMs > 0) await pause(waitMs);
    return true;
  }
}
