import type { Unreachable } from '../people.ts';

interface Stop {
  readonly numberId: string;
  readonly to: string;
  /** From when on. */
  readonly sinceMs: number;
  readonly answer: Unreachable;
}

/**
 * Who has stopped marketing messages (platform reference, 6.5): for one number of a business and one user id of the person,
 * so that a stop ends with the id. Only the person takes it back, by a resume or a signup.
 */
export class Preferences {
  readonly #stops = new Map<string, Stop>();

  stop(userId: string, stop: Stop): void {
    this.#stops.set(`${stop.numberId} ${userId}`, stop);
  }

  resume(userId: string, numberId: string): void {
    this.#stops.delete(`${numberId} ${userId}`);
  }

  /** The person has another user id for every business: what the old ones have stopped is in force no more. */
  forget(to: string): void {
    for (const [place, stop] of this.#stops) if (stop.to === to) this.#stops.delete(place);
  }

  /** What becomes of marketing messages to the person; undefined: nothing. */
  stopOf(numberId: string, userId: string, nowMs: number): Unreachable | undefined {
    const stop = this.#stops.get(`${numberId} ${userId}`);
    return stop === undefined || stop.sinceMs > nowMs ? undefined : stop.answer;
  }

  /** Those in force. */
  all(nowMs: number): readonly { readonly phone_number_id: string; readonly to: string; readonly answer: string }[] {
    return [...this.#stops.values()]
      .filter(({ sinceMs }) => sinceMs <= nowMs)
      .map(({ numberId, to, answer }) => ({ phone_number_id: numberId, to, answer }));
  }
}
