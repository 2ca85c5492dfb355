/** What a person did on the phone, as the control interface shows it. */
export interface Doing {
  /** Written as an answer or by itself, a quick reply tapped, a row or button chosen, a form filled in; or about marketing. */
  readonly kind: 'text' | 'quick_reply' | 'choice' | 'form' | 'stop' | 'resume' | 'signup';
  /** Digits of the number, or the user id. */
  readonly person: string;
  readonly phone_number_id: string;
  /** What was written, tapped or chosen; empty for what is said about marketing. */
  readonly text: string;
  readonly at_ms: number;
  /** The message that it answers; null: none. */
  readonly message: string | null;
}

/** How many are kept: at least this many, at most twice as many. */
export const doingsKept = 2_000;

/** The newest of what people did on their phones since the last reset. */
export class PeopleLog {
  #kept: (Doing & { readonly id: number })[] = [];
  #total = 0;

  /** The dropped ones too. */
  get total(): number {
    return this.#total;
  }

  add(doing: Doing): void {
    this.#total += 1;
    this.#kept.push({ id: this.#total, ...doing });
    if (this.#kept.length === 2 * doingsKept) this.#kept = this.#kept.slice(doingsKept);
  }

  /** Newest first. What a magic recipient is going to do is left out until then. */
  newest(limit: number, nowMs: number): readonly (Doing & { readonly id: number })[] {
    const done = this.#kept.filter(({ at_ms: atMs }) => atMs <= nowMs).sort((a, b) => b.at_ms - a.at_ms || b.id - a.id);
    return done.slice(0, limit);
  }
}
