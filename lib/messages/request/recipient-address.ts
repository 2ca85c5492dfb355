import { countryOfUserId, isUserId } from '../../platform/user-id.ts';
import { countryOfNumber } from '../../pricing/country.ts';
import type { Destination } from '../../pricing/undelivered.ts';

/*
 * A recipient is E.164 digits with or without a plus, or a business-scoped user id (D24). A person given by both counts
 * as two: only the platform knows that they are one.
 */

/** The platform takes both forms (platform reference, 4.1). */
export const addressForm = /^(?:\+?[1-9]\d{7,14}|[A-Z]{2}\.(?:ENT\.)?[0-9A-Za-z]{1,128})$/;

/** The refusal of any other text says this after the field's name. */
export const addressFormText = 'must be 8 to 15 digits with an optional +, or a business-scoped user id';

/**
 * Returns the address without a plus. A number keeps its spelling, because a message goes to the one that the client
 * wrote; `canonicalNumber` compares people. User ids are case-sensitive.
 */
export function canonicalAddress(to: string): string {
  return to.replace('+', '');
}

/** Returns the destination of a message. A user id reveals only the country, by its first letters. */
export function destinationOf(to: string): Destination {
  if (isUserId(to)) return { digits: undefined, country: countryOfUserId(to) };
  const digits = canonicalAddress(to);
  return { digits, country: countryOfNumber(digits) };
}
