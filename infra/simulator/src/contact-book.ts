export interface ViewingBusiness {
  readonly portfolioId: string;
  readonly numberId: string;
}

/** The business number sees the person's number this long. */
const metMs = 30 * 24 * 3_600_000;

/**
 * The book tells whether a business sees the number behind a username (platform reference, 4.5): by the portfolio's
 * contacts, or 30 days after a message of the business number.
 */
export class ContactBook {
  readonly #noted = new Set<string>();
  readonly #metAtMs = new Map<string, number>();

  met({ portfolioId, numberId }: ViewingBusiness, digits: string, atMs: number): void {
    this.#noted.add(`${portfolioId} ${digits}`);
    this.#metAtMs.set(`${numberId} ${digits}`, atMs);
  }

  knows({ portfolioId, numberId }: ViewingBusiness, digits: string, nowMs: number): boolean {
    const metAtMs = this.#metAtMs.get(`${numberId} ${digits}`);
    return this.#noted.has(`${portfolioId} ${digits}`) || (metAtMs !== undefined && nowMs - metAtMs < metMs);
  }

  /** Returns whether the person was in the book. */
  forget(portfolioId: string, digits: string): boolean {
    return this.#noted.delete(`${portfolioId} ${digits}`);
  }
}
