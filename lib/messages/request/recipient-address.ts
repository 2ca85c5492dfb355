import { countryOfUserId, isUserId } from '../../platform/user-id.ts';
import { countryOfNumber, marketOfCountry } from '../../pricing/country.ts';
import type { Destination } from '../../pricing/undelivered.ts';

/*
 * A recipient is E.164 digits with or without a plus, or a business-scoped user id (D24). A person given by both counts
 * as two: only the platform knows that they are one.
 */

/** The platform takes both forms (platform reference, 4.1). */
export const addressForm = /^(?:\+?[1-9]\d{7,14}|[A-Z]{2}\.(?:ENT\.)?[0-9A-Za-z]{1,128})$/;

/** The refusal of any other text says this after the field's name. */
export const addressFormText = 'must be 8 to 15 digits with an optional +, or a business-scoped user id';

/** Contact lists and word processors add them to a copied number; a person sees none. */
const unseen = /(?! )[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/** Says what is wrong with a text that looks right, after the words of its refusal (D24). Is empty for all else. */
export function addressHint(text: string): string {
  const [hidden] = unseen.exec(text) ?? [];
  if (hidden !== undefined) {
    const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `: it has an invisible character, U+${code}`;
  }
  if (/^\+?0/.test(text)) return ': it begins with a zero, and no country code does';
  const start = /^[a-z]{2}\.(?:ent\.)?(?=[0-9a-z]{1,128}$)/i.exec(text)?.[0] ?? '';
  return start === start.toUpperCase()
    ? ''
    : `: its letter case is wrong, a user id begins with ${start.toUpperCase()}`;
}

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

/** Returns the market of an address as prices and sums name it (D32). It identifies no person (D60). */
export function marketOfAddress(to: string): string {
  return marketOfCountry(destinationOf(to).country);
}
