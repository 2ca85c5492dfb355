import countries from './marketing-not-delivered.json' with { type: 'json' };
import { categoryOf } from './price.ts';

/** Recipients of one country to which the platform delivers nothing of a category, and since when it does not. */
export interface Undelivered {
  /** ISO 3166-1 alpha-2. */
  readonly market: string;
  /** ISO date. */
  readonly since: string;
  readonly recipients: number;
}

/**
 * How many of these recipients get no message of the category (in any case) because the platform delivers none to their country
 * (platform reference, 4.4): MARKETING to the United States. By country code; empty where all is delivered.
 */
export function undelivered<Each>(
  categoryWord: string,
  recipients: readonly Each[],
  countryOf: (recipient: Each) => string | undefined,
): Undelivered[] {
  if (categoryOf(categoryWord) !== 'Marketing') return [];
  return countries.flatMap(({ market, since }) => {
    const count = recipients.filter((recipient) => countryOf(recipient) === market).length;
    return count === 0 ? [] : [{ market, since, recipients: count }];
  });
}
