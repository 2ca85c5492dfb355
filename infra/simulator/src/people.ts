import { createHash } from 'node:crypto';
import { ContactBook, type ViewingBusiness } from './contact-book.ts';
import prefixes from './data/phone-prefixes.json' with { type: 'json' };

const countryByPrefix: Readonly<Record<string, string>> = prefixes;
/** Free-form messages need this customer service window. */
const windowMs = 24 * 3_600_000;

export interface Person {
  /** The key is the number's digits, or the user id of a person whose number is unknown. */
  readonly key: string;
  readonly userId: string;
  /** All enrolled portfolios share this id. */
  readonly parentId?: string;
  readonly username?: string;
  /** The business does not see the number. */
  readonly hidesNumber?: true;
}

/** A message to an id that reaches no one fails later, or is refused at once. */
export type Unreachable = 'failed' | 'refused';

/** Messages have the fate `unreachable` when the user id reaches no one. */
export type Found = { readonly person: Person; readonly unreachable?: Unreachable };

export const userIdForm = /^[A-Z]{2}\.(ENT\.)?[0-9A-Za-z]{1,128}$/;

/**
 * User ids, usernames and last messages are here (platform reference, 4.5). A user id is derived from number and
 * portfolio, and survives a reset.
 */
export class People {
  readonly contacts = new ContactBook();
  readonly #byUserId = new Map<string, { readonly portfolioId: string; readonly digits: string }>();
  readonly #digitsByParentId = new Map<string, string>();
  readonly #enrolled = new Set<string>();
  readonly #usernames = new Map<string, string>();
  /** The owner of a number got new ids this often. */
  readonly #renewals = new Map<string, number>();
  readonly #oldUserIds = new Map<string, Unreachable>();
  readonly #leftNumbers = new Set<string>();
  readonly #wroteAtMs = new Map<string, number>();
  #written = 0;

  get written(): number {
    return this.#written;
  }

  /** Returns the portfolio's user id for the person with that number. */
  userIdOf(portfolioId: string, digits: string): string {
    const renewals = this.#renewals.get(digits) ?? 0;
    const userId = `${countryOf(digits)}.${numberFrom(`${portfolioId} ${digits}${renewals === 0 ? '' : ` ${renewals}`}`)}`;
    this.#byUserId.set(userId, { portfolioId, digits });
    return userId;
  }

  /** Returns the person with that number, as a business number sees them. */
  withNumber(viewer: ViewingBusiness, digits: string, nowMs: number): Person {
    const username = this.#usernames.get(digits);
    const isHidden = username !== undefined && !this.contacts.knows(viewer, digits, nowMs);
    return {
      key: digits,
      userId: this.userIdOf(viewer.portfolioId, digits),
      ...{ username, parentId: this.#parentIdOf(viewer.portfolioId, digits) },
      ...(isHidden ? { hidesNumber: true } : {}),
    };
  }

  /** An unknown id stands for a person without a known number. A retired id, or another portfolio's, reaches no one. */
  withUserId(viewer: ViewingBusiness, userId: string, nowMs: number): Found {
    const stranger = { key: userId, userId };
    const old = this.#oldUserIds.get(userId);
    if (old !== undefined) return { person: stranger, unreachable: old };
    const known = this.#byUserId.get(userId);
    if (known !== undefined && known.portfolioId !== viewer.portfolioId) {
      return { person: stranger, unreachable: 'failed' };
    }
    const digits = known?.digits ?? this.#digitsByParentId.get(userId);
    return { person: digits === undefined ? stranger : this.withNumber(viewer, digits, nowMs) };
  }

  /** Tells whether the owner of the number has taken another one. */
  isLeft(digits: string): boolean {
    return this.#leftNumbers.has(digits);
  }

  /** Gives a username; undefined removes it. */
  adopt(digits: string, username: string | undefined): void {
    if (username === undefined) this.#usernames.delete(digits);
    else this.#usernames.set(digits, username);
  }

  usernameOf(digits: string): string | undefined {
    return this.#usernames.get(digits);
  }

  enrol(portfolioId: string, isEnrolled: boolean): void {
    if (isEnrolled) this.#enrolled.add(portfolioId);
    else this.#enrolled.delete(portfolioId);
  }

  isEnrolled(portfolioId: string): boolean {
    return this.#enrolled.has(portfolioId);
  }

  /** Gives new user ids, and a new number if given. The old ones reach no one. */
  renew(digits: string, change: { readonly number?: string | undefined; readonly oldIds: Unreachable }): void {
    for (const [userId, known] of this.#byUserId) {
      if (known.digits === digits) this.#oldUserIds.set(userId, change.oldIds);
    }
    this.#renewals.set(digits, (this.#renewals.get(digits) ?? 0) + 1);
    if (change.number === undefined) return;
    this.#leftNumbers.add(digits);
    this.#leftNumbers.delete(change.number);
    this.adopt(change.number, this.#usernames.get(digits));
    this.adopt(digits, undefined);
  }

  /** Opens the customer service window. */
  wrote(numberId: string, key: string, atMs: number): void {
    this.#written += 1;
    this.#wroteAtMs.set(`${numberId} ${key}`, atMs);
  }

  isWindowOpen(numberId: string, key: string, nowMs: number): boolean {
    const wroteAtMs = this.#wroteAtMs.get(`${numberId} ${key}`);
    return wroteAtMs !== undefined && nowMs - wroteAtMs < windowMs;
  }

  #parentIdOf(portfolioId: string, digits: string): string | undefined {
    if (!this.#enrolled.has(portfolioId)) return undefined;
    const parentId = `${countryOf(digits)}.ENT.${numberFrom(`parent ${digits}`)}`;
    this.#digitsByParentId.set(parentId, digits);
    return parentId;
  }
}

function numberFrom(text: string): string {
  return createHash('sha256').update(text).digest().readBigUInt64BE().toString().padStart(20, '1');
}

export function countryOf(digits: string): string {
  for (let length = digits.length; length > 0; length -= 1) {
    const country = countryByPrefix[digits.slice(0, length)];
    if (country !== undefined) return country;
  }
  return 'US';
}
