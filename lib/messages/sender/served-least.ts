/** Who was served how much, by client or dispatch. Only differences count. */
export type Service = Readonly<Record<string, number>>;

/** A newcomer goes before those who were served as little. */
const beforeEqual = 0.5;

/** Orders those who wait by what they were served. */
export class ServedLeast {
  readonly #units: Map<string, number>;
  #waiting: ReadonlySet<string> = new Set();
  readonly #newcomers = new Set<string>();

  constructor(known: Service = {}) {
    this.#units = new Map(Object.entries(known));
  }

  /**
   * Returns those who wait now, the least served first. A newcomer starts at the least service of the others, so it is
   * next, once; one that comes back makes up for nothing that it missed.
   */
  ordered(names: readonly string[]): readonly string[] {
    const others = names.filter((name) => this.#waiting.has(name));
    const least = others.length === 0 ? 0 : Math.min(...others.map((name) => this.#of(name)));
    for (const name of names) {
      if (this.#waiting.has(name)) continue;
      if (others.length > 0 && this.#of(name) < least) this.#newcomers.add(name);
      this.#units.set(name, Math.max(this.#of(name), least - beforeEqual));
    }
    this.#waiting = new Set(names);
    return names.toSorted((one, other) => this.#of(one) - this.#of(other));
  }

  /** It has come to others who wait, was served less than all of them, and has not been served since. */
  isNewcomer(name: string): boolean {
    return this.#newcomers.has(name);
  }

  serve(name: string, units: number): void {
    this.#newcomers.delete(name);
    this.#units.set(name, this.#of(name) + units);
  }

  /** Returns the service of those who wait, for the next sender. */
  get service(): Service {
    const known = [...this.#waiting].map((name) => [name, this.#of(name)] as const);
    const least = Math.min(...known.map(([, units]) => units));
    return Object.fromEntries(known.map(([name, units]) => [name, units - least]));
  }

  #of(name: string): number {
    return this.#units.get(name) ?? 0;
  }
}
