/** A listed rule has its id for removal; `left` is null for a rule without an end. */
export type ListedRule<Rule> = Rule & { readonly id: string; readonly left: number | null };

interface InForce<Rule> {
  readonly id: string;
  readonly rule: Rule;
  left: number;
}

/** Control calls add rules. Each holds for its number of times, or until it is removed. */
export class RuleList<Rule extends { readonly times?: number | undefined }> {
  #inForce: readonly InForce<Rule>[] = [];
  #added = 0;

  get size(): number {
    return this.#inForce.length;
  }

  all(): readonly ListedRule<Rule>[] {
    return this.#inForce.map(({ id, rule, left }) => ({ ...rule, id, left: Number.isFinite(left) ? left : null }));
  }

  /** Returns an id that is unique within this world. */
  add(rule: Rule): string {
    this.#added += 1;
    const id = String(this.#added);
    this.#inForce = [...this.#inForce, { id, rule, left: rule.times ?? Number.POSITIVE_INFINITY }];
    return id;
  }

  /** Returns whether the rule was in force. */
  remove(id: string): boolean {
    const before = this.size;
    this.#inForce = this.#inForce.filter((each) => each.id !== id);
    return this.size < before;
  }

  clear(): void {
    this.#inForce = [];
  }

  /** Returns the oldest rule that matches and uses up one of its times. */
  takeFirst(matches: (rule: Rule) => boolean): Rule | undefined {
    const hit = this.#inForce.find(({ rule }) => matches(rule));
    return hit === undefined ? undefined : this.#use([hit])[0];
  }

  /** Returns every rule that matches, newest last, and uses up one of the times of each. */
  takeAll(matches: (rule: Rule) => boolean): readonly Rule[] {
    return this.#use(this.#inForce.filter(({ rule }) => matches(rule)));
  }

  #use(hits: readonly InForce<Rule>[]): readonly Rule[] {
    for (const hit of hits) hit.left -= 1;
    if (hits.some(({ left }) => left === 0)) this.#inForce = this.#inForce.filter(({ left }) => left > 0);
    return hits.map(({ rule }) => rule);
  }
}
