import { countryOfUserId, isUserId } from '../../platform/user-id.ts';
import { countryOfNumber } from '../../pricing/country.ts';

/*
 * Whom a message is for, as the request spells it: E.164 digits with a plus or without, or a business-scoped user id (D24). A
 * person who is given once by number and once by id counts as two: only the platform knows that they are one.
 */

/** Both forms (platform reference, 4.1). */
export const addresseeForm = /^(?:\+?[1-9]\d{7,14}|[A-Z]{2}\.(?:ENT\.)?[0-9A-Za-z]{1,128})$/;

/** The same for every spelling of one addressee: two user ids that differ in letter case are two. */
export function addresseeOf(to: string): string {
  return to.replace('+', '');
}

/** The country (ISO 3166-1 alpha-2) by the first digits of a number, or the first letters of a user id; undefined for none. */
export function countryOf(to: string): string | undefined {
  return isUserId(to) ? countryOfUserId(to) : countryOfNumber(addresseeOf(to));
}
