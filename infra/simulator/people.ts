import { createHash } from 'node:crypto';
import prefixes from '../../lib/pricing/phone-prefixes.json' with { type: 'json' };

const countryByPrefix: Readonly<Record<string, string>> = prefixes;
/** How long after a person has written the business may write freely. */
const windowMs = 24 * 3_600_000;

/** A person as a business knows them. */
export interface Person {
  /** The digits of the number, or the user id of a person whose number is not known. */
  readonly key: string;
  readonly userId: string;
}

/**
 * The persons that businesses write to: their business-scoped user ids, and when they have written last (platform
 * reference, 4.5). A user id follows from number and portfolio, so that it stays the same after a reset.
 */
export class People {
  readonly #digitsByUserId = new Map<string, string>();
  readonly #wroteAtMs = new Map<string, number>();
  #written = 0;

  /** How many messages they have written. */
  get written(): number {
    return this.#written;
  }

  /** The user id by which a portfolio knows the person with that number. */
  userIdOf(portfolioId: string, digits: string): string {
    const hash = createHash('sha256').update(`${portfolioId} ${digits}`).digest();
    const userId = `${countryOf(digits)}.${hash.readBigUInt64BE().toString().padStart(20, '1')}`;
    this.#digitsByUserId.set(userId, digits);
    return userId;
  }

  /** The number of a person whose user id was told before. */
  digitsOf(userId: string): string | undefined {
    return this.#digitsByUserId.get(userId);
  }

  /** The person has written to the business number, which may answer freely from now on. */
  wrote(numberId: string, key: string, atMs: number): void {
    this.#written += 1;
    this.#wroteAtMs.set(`${numberId} ${key}`, atMs);
  }

  /** May the business number send the person free-form messages? */
  isWindowOpen(numberId: string, key: string, nowMs: number): boolean {
    const wroteAtMs = this.#wroteAtMs.get(`${numberId} ${key}`);
    return wroteAtMs !== undefined && nowMs - wroteAtMs < windowMs;
  }
}

function countryOf(digits: string): string {
  for (let length = digits.length; length > 0; length -= 1) {
    const country = countryByPrefix[digits.slice(0, length)];
    if (country !== undefined) return country;
  }
  return 'US';
}
