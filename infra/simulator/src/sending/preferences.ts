import type { Unreachable } from '../people.ts';

interface Stop {
  readonly numberId: string;
  readonly to: string;
  readonly sinceMs: number;
  readonly answer: Unreachable;
}

/**
 * A stop holds for one business number and one user id (platform reference, 6.5), and ends with the id. Only the person
 * ends it otherwise, by a resume or a signup.
 */
export class Preferences {
  readonly #stops = new Map<string, Stop>();

  stop(userId: string, stop: Stop): void {
    this.#stops.set(`${stop.numberId} ${userId}`, stop);
  }

  resume(userId: string, numberId: string): void {
    this.#stops.delete(`${numberId} ${userId}`);
  }

  /** Drops the stops of a person whose user ids change. */
  forget(to: string): void {
    for (const [place, stop] of this.#stops) if (stop.to === to) this.#stops.delete(place);
  }

  /** Returns the fate of marketing messages to the person; undefined without a stop. */
  stopOf(numberId: string, userId: string, nowMs: number): Unreachable | undefined {
    const stop = this.#stops.get(`${numberId} ${userId}`);
    return stop === undefined || stop.sinceMs > nowMs ? undefined : stop.answer;
  }

  all(nowMs: number): readonly { readonly phone_number_id: string; readonly to: string; readonly answer: string }[] {
    return [...this.#stops.values()]
      .filter(({ sinceMs }) => sinceMs <= nowMs)
      .map(({ numberId, to, answer }) => ({ phone_number_id: numberId, to, answer }));
  }
}
