import { countryOfUserId, isUserId } from '../../platform/user-id.ts';
import { countryOfNumber } from '../../pricing/country.ts';
import type { Destination } from '../../pricing/undelivered.ts';

/*
 * Whom a message is for, as the request spells it: E.164 digits with a plus or without, or a business-scoped user id (D24). A
 * person who is given once by number and once by id counts as two: only the platform knows that they are one.
 */

/** Both forms (platform reference, 4.1). */
export const addresseeForm = /^(?:\+?[1-9]\d{7,14}|[A-Z]{2}\.(?:ENT\.)?[0-9A-Za-z]{1,128})$/;

/** What is said to who spells none of them; the name of the field stands before it. */
export const addresseeWords = 'must be 8 to 15 digits with an optional +, or a business-scoped user id';

/** The same for every spelling of one addressee: two user ids that differ in letter case are two. */
export function addresseeOf(to: string): string {
  return to.replace('+', '');
}

/** Where a message to it goes: of a user id only the country is known, by its first letters. */
export function destinationOf(to: string): Destination {
  if (isUserId(to)) return { digits: undefined, country: countryOfUserId(to) };
  const digits = addresseeOf(to);
  return { digits, country: countryOfNumber(digits) };
}
