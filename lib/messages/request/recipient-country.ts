import { countryOfNumber } from '../../pricing/country.ts';
import { businessScopedUserId } from './send-request.ts';

/**
 * The country of a recipient (ISO 3166-1 alpha-2), as far as the address says it: a number by its first digits, a business-scoped
 * user id by its first letters. Undefined for a number of no country that is known.
 */
export function countryOfRecipient(to: string): string | undefined {
  return businessScopedUserId.test(to) ? to.slice(0, 2) : countryOfNumber(to.replace('+', ''));
}
