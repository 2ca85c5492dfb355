/** How a rule is listed: `id` takes it back by itself, `left` is null without an end. */
export type ListedRule<Rule> = Rule & { readonly id: string; readonly left: number | null };

interface InForce<Rule> {
  readonly id: string;
  readonly rule: Rule;
  left: number;
}

/** Rules that the control interface has put in force, oldest first: each for so many times, or until it is taken back. */
export class RuleList<Rule extends { readonly times?: number | undefined }> {
  #inForce: readonly InForce<Rule>[] = [];
  #added = 0;

  get size(): number {
    return this.#inForce.length;
  }

  /** Oldest first. */
  all(): readonly ListedRule<Rule>[] {
    return this.#inForce.map(({ id, rule, left }) => ({ ...rule, id, left: Number.isFinite(left) ? left : null }));
  }

  /** Its id, which no other rule of this world has. */
  add(rule: Rule): string {
    this.#added += 1;
    const id = String(this.#added);
    this.#inForce = [...this.#inForce, { id, rule, left: rule.times ?? Number.POSITIVE_INFINITY }];
    return id;
  }

  /** Says whether the rule was in force. */
  remove(id: string): boolean {
    const before = this.size;
    this.#inForce = this.#inForce.filter((each) => each.id !== id);
    return this.size < before;
  }

  clear(): void {
    this.#inForce = [];
  }

  /** The oldest rule that matches. Uses up one of its times. */
  takeFirst(matches: (rule: Rule) => boolean): Rule | undefined {
    const hit = this.#inForce.find(({ rule }) => matches(rule));
    return hit === undefined ? undefined : this.#use([hit])[0];
  }

  /** Every rule that matches, the newest last. Uses up one of the times of each. */
  takeAll(matches: (rule: Rule) => boolean): readonly Rule[] {
    return this.#use(this.#inForce.filter(({ rule }) => matches(rule)));
  }

  #use(hits: readonly InForce<Rule>[]): readonly Rule[] {
    for (const hit of hits) hit.left -= 1;
    if (hits.some(({ left }) => left === 0)) this.#inForce = this.#inForce.filter(({ left }) => left > 0);
    return hits.map(({ rule }) => rule);
  }
}
