/** The business number that sees a person, and its portfolio. */
export interface Beholder {
  readonly portfolioId: string;
  readonly numberId: string;
}

/** The business number sees the person's number this long. */
const metMs = 30 * 24 * 3_600_000;

/**
 * Decides whether a business sees the number of a person with a username (platform reference, 4.5): the portfolio has
 * it in its contact book, or the business number wrote to it in the last 30 days.
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

  /** Returns whether the person was in the book. */
  forget(portfolioId: string, digits: string): boolean {
    return this.#noted.delete(`${portfolioId} ${digits}`);
  }
}
