/** For whom a person is looked at: a number, and the portfolio that it belongs to. */
export interface Beholder {
  readonly portfolioId: string;
  readonly numberId: string;
}

/** How long a number that has met a person by their number goes on seeing it. */
const metMs = 30 * 24 * 3_600_000;

/**
 * Who is known by their number (platform reference, 4.5): whom a portfolio has in its contact book, which fills itself from
 * messages by number, and whom a number of the business has met so in the last 30 days. It counts for adopters of usernames
 * alone: the number of anybody else is always shown.
 */
export class ContactBook {
  readonly #noted = new Set<string>();
  readonly #metAtMs = new Map<string, number>();

  met({ portfolioId, numberId }: Beholder, digits: string, atMs: number): void {
    this.#noted.add(`${portfolioId} ${digits}`);
    this.#metAtMs.set(`${numberId} ${digits}`, atMs);
  }

  knows({ portfolioId, numberId }: Beholder, digits: string, nowMs: number): boolean {
    const metAtMs = this.#metAtMs.get(`${numberId} ${digits}`);
    return this.#noted.has(`${portfolioId} ${digits}`) || (metAtMs !== undefined && nowMs - metAtMs < metMs);
  }

  /** Strikes a person out; says whether they were in the book. */
  forget(portfolioId: string, digits: string): boolean {
    return this.#noted.delete(`${portfolioId} ${digits}`);
  }
}
