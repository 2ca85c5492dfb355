import { createHash } from 'node:crypto';
import { present } from '../../lib/keys/present.ts';
import prefixes from '../../lib/pricing/phone-prefixes.json' with { type: 'json' };
import { type Beholder, ContactBook } from './contact-book.ts';

const countryByPrefix: Readonly<Record<string, string>> = prefixes;
/** How long after a person has written the business may write freely. */
const windowMs = 24 * 3_600_000;

/** A person as a business knows them. */
export interface Person {
  /** The digits of the number, or the user id of a person whose number is not known. */
  readonly key: string;
  readonly userId: string;
  /** By which every portfolio of an enrolled group knows the person. */
  readonly parentId?: string;
  readonly username?: string;
  /** The business is not told the number. */
  readonly hidesNumber?: true;
}

/** What becomes of a message that reaches no one: it fails later, or is refused at once. */
export type Unreachable = 'failed' | 'refused';

/** Whom a user id means; or, in their place, what becomes of messages to it. */
export type Found = { readonly person: Person; readonly unreachable?: Unreachable };

export const userIdForm = /^[A-Z]{2}\.(ENT\.)?[0-9A-Za-z]{1,128}$/;

/**
 * The persons that businesses write to: their business-scoped user ids, their usernames, and when they have written last
 * (platform reference, 4.5). A user id follows from number and portfolio, so that it stays the same after a reset.
 */
export class People {
  readonly contacts = new ContactBook();
  readonly #byUserId = new Map<string, { readonly portfolioId: string; readonly digits: string }>();
  readonly #digitsByParentId = new Map<string, string>();
  readonly #enrolled = new Set<string>();
  readonly #usernames = new Map<string, string>();
  /** How often the owner of a number got other ids. */
  readonly #renewals = new Map<string, number>();
  readonly #oldUserIds = new Map<string, Unreachable>();
  readonly #leftNumbers = new Set<string>();
  readonly #wroteAtMs = new Map<string, number>();
  #written = 0;

  /** How many messages they have written. */
  get written(): number {
    return this.#written;
  }

  /** The user id by which a portfolio knows the person with that number. */
  userIdOf(portfolioId: string, digits: string): string {
    const renewals = this.#renewals.get(digits) ?? 0;
    const userId = `${countryOf(digits)}.${numberFrom(`${portfolioId} ${digits}${renewals === 0 ? '' : ` ${renewals}`}`)}`;
    this.#byUserId.set(userId, { portfolioId, digits });
    return userId;
  }

  /** The person with that number, as a number of a business sees them. */
  withNumber(beholder: Beholder, digits: string, nowMs: number): Person {
    const username = this.#usernames.get(digits);
    const isHidden = username !== undefined && !this.contacts.knows(beholder, digits, nowMs);
    return {
      key: digits,
      userId: this.userIdOf(beholder.portfolioId, digits),
      ...present({ username, parentId: this.#parentIdOf(beholder.portfolioId, digits) }),
      ...(isHidden ? { hidesNumber: true } : {}),
    };
  }

  /**
   * Whom a user id or a parent id means. An id that was never told is a person whose number is not known; one that is not
   * in force any more, or that another portfolio was told, reaches no one.
   */
  withUserId(beholder: Beholder, userId: string, nowMs: number): Found {
    const stranger = { key: userId, userId };
    const old = this.#oldUserIds.get(userId);
    if (old !== undefined) return { person: stranger, unreachable: old };
    const known = this.#byUserId.get(userId);
    if (known !== undefined && known.portfolioId !== beholder.portfolioId) {
      return { person: stranger, unreachable: 'failed' };
    }
    const digits = known?.digits ?? this.#digitsByParentId.get(userId);
    return { person: digits === undefined ? stranger : this.withNumber(beholder, digits, nowMs) };
  }

  /** The number is out of use: its owner has taken another. */
  isLeft(digits: string): boolean {
    return this.#leftNumbers.has(digits);
  }

  /** Undefined: no username any more. */
  adopt(digits: string, username: string | undefined): void {
    if (username === undefined) this.#usernames.delete(digits);
    else this.#usernames.set(digits, username);
  }

  usernameOf(digits: string): string | undefined {
    return this.#usernames.get(digits);
  }

  /** The portfolio belongs to a group that knows its people by parent ids too, or no longer. */
  enrol(portfolioId: string, isEnrolled: boolean): void {
    if (isEnrolled) this.#enrolled.add(portfolioId);
    else this.#enrolled.delete(portfolioId);
  }

  isEnrolled(portfolioId: string): boolean {
    return this.#enrolled.has(portfolioId);
  }

  /** Gives a person other user ids, and another number if one is given; the old ones reach no one from now on. */
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
