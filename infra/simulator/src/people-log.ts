export interface PersonAct {
  readonly kind: 'text' | 'quick_reply' | 'choice' | 'form' | 'stop' | 'resume' | 'signup';
  /** The person has the digits of the number, or the user id. */
  readonly person: string;
  readonly phone_number_id: string;
  /** The text was written, tapped or chosen; empty for a marketing preference. */
  readonly text: string;
  readonly at_ms: number;
  readonly message: string | null;
}

/** At least this many are kept, at most twice as many. */
export const personActsKept = 2_000;

export class PeopleLog {
  #kept: (PersonAct & { readonly id: number })[] = [];
  #total = 0;

  /** The total includes dropped acts. */
  get total(): number {
    return this.#total;
  }

  add(doing: PersonAct): void {
    this.#total += 1;
    this.#kept.push({ id: this.#total, ...doing });
    if (this.#kept.length === 2 * personActsKept) this.#kept = this.#kept.slice(personActsKept);
  }

  /** Returns the newest first, without acts that a magic recipient will do later. */
  newest(limit: number, nowMs: number): readonly (PersonAct & { readonly id: number })[] {
    const done = this.#kept.filter(({ at_ms: atMs }) => atMs <= nowMs).sort((a, b) => b.at_ms - a.at_ms || b.id - a.id);
    return done.slice(0, limit);
  }
}
